// Offline, every definition and every custom object that was recorded gets the answer that kube-apiserver gave: the same
// Status, the same warnings, the same object.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Answer, createOfflineApi, type OfflineApi } from '../../src/authoring/offline-api.js'
import type { FieldValidation } from '../../src/meta/options/write-options.js'

const FOLDER = new URL('../conformance/recordings/', import.meta.url)
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

interface Step {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly pick?: readonly string[]
  readonly ignore?: readonly string[]
  readonly expect?: {
    readonly status: number
    readonly warnings?: readonly string[]
    readonly body?: unknown
    readonly contentType?: string
  }
}

interface Scenario {
  readonly name: string
  /** The port of its webhooks. */
  readonly webhooks?: number
  readonly steps: readonly Step[]
}

const scenarios = readdirSync(FOLDER)
  .filter(name => name.endsWith('.json'))
  .flatMap(name => (JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as { scenarios: Scenario[] }).scenarios)
  // These show what other parts of a server do to a create: its users, its webhooks and policies, its addresses.
  .filter(
    ({ name, webhooks }) =>
      !webhooks && !/^(?:auth|admission|own-admission-\d)\/|^verbs\/create-in-namespace/.test(name),
  )

/** Answers that come from the pipeline, not from the store or the address. */
const COMPARED = new Set([201, 400, 422])

test('recorded creates of definitions and custom objects are answered alike offline', async () => {
  let compared = 0
  const differences: string[] = []
  const api = createOfflineApi()
  for (const { name, steps } of scenarios) {
    // What a definition is after a change by other requests is not followed.
    const followed = new Set<string>()
    for (const [i, step] of steps.entries()) {
      const answer = await answerOf(api, step, followed)
      if (!answer || !isWholeAnswer(step) || !fitsIntoHeaders(answer.warnings)) continue
      compared++
      const [actual, expected] = [shown(answer), recorded(step.expect!)]
      if (JSON.stringify(actual) !== JSON.stringify(expected)) {
        differences.push(`${name} ${i}: ${JSON.stringify(actual)}\n  recorded: ${JSON.stringify(expected)}`)
      }
    }
  }
  expect(differences.slice(0, 10).map(each => each.slice(0, 700))).toEqual([])
  expect(compared).toBeGreaterThan(1500)
})

const isWholeAnswer = ({ pick, ignore = [], expect: answer }: Step): boolean =>
  answer !== undefined &&
  COMPARED.has(answer.status) &&
  (answer.contentType ?? '').startsWith('application/json') &&
  pick === undefined &&
  !ignore.includes('/message')

/** Headers are limited in size and characters. */
const fitsIntoHeaders = (warnings: readonly string[]): boolean =>
  warnings.join('').length < 2000 && warnings.every(text => /^[ -~]*$/.test(text))

async function answerOf(api: OfflineApi, step: Step, followed: Set<string>): Promise<Answer | undefined> {
  const [path = '', query = ''] = (step.path ?? '').split('?')
  if (path.startsWith(`${DEFINITIONS}/`) && step.method !== 'GET')
    followed.delete(groupIn(path.slice(DEFINITIONS.length + 1)))
  if (step.method !== 'POST' || step.body === undefined || isFilledIn(step)) return undefined
  const parameters = new URLSearchParams(query)
  if (['dryRun', 'pretty', 'fieldManager', 'timeout'].some(each => parameters.has(each))) return undefined
  const mediaType = Object.entries(step.headers ?? {}).find(([key]) => key.toLowerCase() === 'content-type')?.[1] ?? ''
  if (!['', 'application/json', 'application/yaml'].includes(mediaType) || 'authorization' in (step.headers ?? {}))
    return undefined
  const body = { bytes: bytesOf(step.body), mediaType }
  const validation = parameters.get('fieldValidation') ?? ''
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(validation)) return undefined
  const fieldValidation = validation as FieldValidation
  if (path === DEFINITIONS) {
    const answer = await api.create(api.find('apiextensions.k8s.io/v1', 'CustomResourceDefinition')!, body, {
      fieldValidation,
    })
    if (answer.prepared && step.expect?.status !== 409) {
      const { kind } = api.keep(answer.prepared.stored)
      if (kind) followed.add(kind.group)
    }
    return answer
  }
  const [, group, version, namespace, plural] =
    /^\/apis\/([^/]+)\/([^/]+)\/(?:namespaces\/([^/]+)\/)?([^/]+)$/.exec(path) ?? []
  if (group === undefined || !followed.has(group)) return undefined
  const of = api.registry.find(group, version!, plural!)
  if (!of || of.kind.namespaced !== (namespace !== undefined)) return undefined
  return api.create(of, body, { fieldValidation, namespace })
}

function bytesOf(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  const { base64 } = body as { base64?: string }
  return base64 === undefined ? Buffer.from(JSON.stringify(body)) : Buffer.from(base64, 'base64')
}

/** Steps that use what an earlier response brought. */
const isFilledIn = (step: Step): boolean => JSON.stringify(step.body).includes('${')

const groupIn = (name: string): string => name.slice(name.indexOf('.') + 1).split('/')[0]!

interface RecordedStatus {
  readonly message?: string | undefined
  readonly details?: { readonly causes?: readonly object[] | undefined } | undefined
}

const shown = ({ status, warnings }: Answer): object => ({
  status: status?.code ?? 201,
  ...textOf(status ?? {}),
  warnings: warnings.map(text => `299 - ${JSON.stringify(text)}`).toSorted(),
})

const recorded = ({ status, warnings, body }: NonNullable<Step['expect']>): object => ({
  status,
  ...textOf(status === 201 ? {} : (body as RecordedStatus)),
  warnings: (warnings ?? []).toSorted(),
})

/** Of several causes the order is not recorded. */
function textOf({ message, details }: RecordedStatus): object {
  const causes = details?.causes?.map(cause => JSON.stringify(cause)).toSorted() ?? []
  return { message: causes.length > 1 ? message?.replace(/ is invalid: \[[\s\S]*\]$/, '') : message, causes }
}
