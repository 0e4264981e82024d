import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { getOwn, isObject, setOwn, type Value, type ValueObject } from '../meta/values/value.js'
import { type Answer, recordedServer, type Step } from './recorded-server.suite.js'

interface Scenario {
  readonly name: string
  readonly about: string
  readonly steps: readonly Step[]
}

const scenariosOf = (file: string): Scenario[] =>
  (
    JSON.parse(readFileSync(new URL(`../../test/conformance/recordings/${file}.json`, import.meta.url), 'utf8')) as {
      scenarios: Scenario[]
    }
  ).scenarios

/** Faults that this room finds; all others are found by those above and below it. */
const OURS =
  /^(?:Apply failed|failed to (?:create typed|convert new object \(.*autoscaling)|invalid object type|metadata\.managedFields must)/

/** What cannot be replayed here: bodies that are not JSON, requests that lead nowhere, and what others must check. */
function isReplayed({ method, body, expect: expected, unchecked }: Step): boolean {
  if (method === undefined) return false
  if (unchecked || expected === undefined) return true
  const { message } = (isObject(expected.body) ? expected.body : {}) as { message?: Value }
  if (expected.status >= 400) return typeof message === 'string' && OURS.test(message) && isObject(body)
  return method === 'GET' || method === 'DELETE' || typeof body !== 'string'
}

describe('recorded applies', () => {
  for (const { name, about, steps } of scenariosOf('apply')) {
    test(`${name}: ${about}`, async () => replay(steps, compare))
  }
})

/** Scenarios on other subjects whose answers show managedFields. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  builtin: ['configmap-apply', 'pod-apply', 'deployment-scale', 'secret-defaults'],
  'crd-schema': ['default-and-apply', 'map-types', 'paths-with-odd-keys', 'evolve-ownership', 'list-map-key-types'],
  patch: [
    'json-empty',
    'json-managed-fields',
    'merge-empty',
    'two-versions',
    'managed-fields-of-patches',
    'client-apply-custom',
  ],
  verbs: [
    'create-managed-fields',
    'put-no-change',
    'field-manager-verbs',
    'status-get-and-put',
    'status-patch',
    'scale-put',
    'scale-patch',
  ],
  versions: [
    'none-validated-by-request-version',
    'none-managed-fields-of-versions',
    'none-apply-two-versions',
    'none-apply-conflict-across',
  ],
}

describe('managedFields recorded elsewhere', () => {
  for (const [file, names] of Object.entries(ELSEWHERE)) {
    const scenarios = scenariosOf(file)
    for (const name of names) {
      test(`${file}/${name}`, async () => {
        const { steps } = scenarios.find(scenario => scenario.name === `${file}/${name}`)!
        await replay(steps, compareManagers)
      })
    }
  }
})

type Compare = (i: number, step: Step, answer: Answer, versions: Map<Value, Value>) => void

async function replay(steps: readonly Step[], check: Compare): Promise<void> {
  const server = recordedServer()
  const bodies: Value[] = []
  const versions = new Map<Value, Value>()
  for (const [i, step] of steps.entries()) {
    if (step.sleep !== undefined) server.sleep(step.sleep)
    if (!isReplayed(step) || isList(step)) continue
    const answer = await server.answer(filled(step, bodies))
    bodies[i] = answer.body
    if (!step.unchecked && step.expect !== undefined) check(i, step, answer, versions)
  }
}

function compareManagers(i: number, step: Step, answer: Answer, versions: Map<Value, Value>): void {
  const wanted = step.expect!
  if (wanted.status >= 400) return compare(i, step, answer, versions)
  const pointer = '/metadata/managedFields'
  const entries = step.pick
    ? (wanted.body as ValueObject)[pointer]
    : (picks(wanted.body, [pointer]) as ValueObject)[pointer]
  if (entries === undefined) return
  const got = picks(answer.body, [pointer]) as ValueObject
  expect({ step: i, entries: normalised(got[pointer] ?? null) }).toEqual({ step: i, entries: normalised(entries) })
}

const isList = ({ method, path = '' }: Step): boolean =>
  method === 'GET' && /\/(?:widgets|customresourcedefinitions\/[^/]+)(?:\?|$)/.test(path)

function compare(i: number, step: Step, answer: Answer, versions: Map<Value, Value>): void {
  const expected = step.expect!
  if (expected.status >= 400) {
    expect({ step: i, ...error(answer) }).toEqual({ step: i, ...error(expected) })
    return
  }
  if (step.method === 'DELETE') return
  const pick = step.pick?.filter(isOurs(step))
  const picked = pick ? picks(answer.body, pick) : plain(answer.body)
  const wanted = pick ? chosen(expected.body as ValueObject, pick) : plain(expected.body)
  expect({ step: i, status: answer.status, body: normalised(picked) }).toEqual({
    step: i,
    status: expected.status,
    body: normalised(wanted),
  })
  sameVersion(expected.body, answer.body, versions)
}

function error({ status, body }: Answer): object {
  const { message = '', details } = body as { message?: string; details?: { causes: ValueObject[] } }
  return { status, message: withoutUids(message), causes: sortedCauses(details) }
}

/** Of services and definitions others fill in more than these merges do. */
const isOurs =
  ({ path = '' }: Step) =>
  (pointer: string): boolean =>
    !/services|customresourcedefinitions/.test(path) || pointer.startsWith('/metadata/managedFields')

const chosen = (body: ValueObject, pointers: readonly string[]): Value =>
  Object.fromEntries(pointers.flatMap(pointer => (Object.hasOwn(body, pointer) ? [[pointer, body[pointer]!]] : [])))

const sortedCauses = (details: { causes: ValueObject[] } | undefined): unknown =>
  details?.causes.map(cause => withoutUids(JSON.stringify(cause))).toSorted()

const withoutUids = (text: string): string => text.replaceAll(/0{8}-0000-4000-8000-\d{12}|<uid:\d+>/g, '<uid>')

/** What is compared of whole objects: all but what this server makes up. */
function plain(body: Value): Value {
  if (!isObject(body)) return body
  const { metadata, ...rest } = body
  const { uid: _, resourceVersion: __, namespace: ___, ...meta } = metadata as ValueObject
  return { ...rest, metadata: meta }
}

function normalised(value: Value): Value {
  return JSON.parse(
    JSON.stringify(value, (key, member: unknown) =>
      (key === 'time' || key.endsWith('Timestamp') || key === 'lastUpdateTime') && typeof member === 'string'
        ? '<time>'
        : typeof member === 'string' && !key.startsWith('k:')
          ? withoutUids(member)
          : member,
    ),
  ) as Value
}

function picks(body: Value, pointers: readonly string[]): Value {
  const result: ValueObject = {}
  for (const pointer of pointers) {
    let value: Value | undefined = body
    for (const step of pointer.split('/').slice(1)) {
      value = Array.isArray(value) ? value[Number(step)] : isObject(value) ? getOwn(value, step) : undefined
    }
    if (value !== undefined) setOwn(result, pointer, value)
  }
  return result
}

/** Equal versions stay equal, others stay apart. */
function sameVersion(expected: Value, got: Value, versions: Map<Value, Value>): void {
  const wanted = versionOf(expected)
  const actual = versionOf(got)
  if (wanted === undefined || actual === undefined) return
  const cached = versions.get(wanted)
  if (cached === undefined) expect([...versions.values()]).not.toContain(actual)
  else expect(actual).toBe(cached)
  versions.set(wanted, actual)
}

const versionOf = (body: Value): Value | undefined =>
  isObject(body) && isObject(body['metadata']) ? body['metadata']['resourceVersion'] : undefined

/** `{{3.metadata.uid}}` stands for what an earlier step got. */
function filled(step: Step, bodies: readonly Value[]): Step {
  const text = JSON.stringify(step).replaceAll(/\{\{(\d+)\.([^}]+)\}\}/g, (_, at: string, path: string) => {
    let value: Value | undefined = bodies[Number(at)]
    for (const part of path.split('.')) value = (value as ValueObject | undefined)?.[part]
    return typeof value === 'string' ? value : ''
  })
  return JSON.parse(text) as Step
}
