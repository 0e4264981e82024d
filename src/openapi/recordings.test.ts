// Replays the recorded OpenAPI responses that depend on kinds alone.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { kindsOfGroup } from '../builtin/builtin-kinds.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'
import { builtinTypes } from '../types/type-table.js'
import { at, builtinServer, customKind, type Definition, fetchDocument, type Server } from './openapi.suite.js'

interface Step {
  readonly method: string
  readonly path: string
  readonly headers?: Record<string, string | null>
  readonly body?: ValueObject | Patch[]
  readonly pick?: readonly string[]
  readonly ignore?: readonly string[]
  readonly expect?: { readonly status: number; readonly contentType?: string; readonly body?: Value }
}

interface Patch {
  readonly op: string
  readonly path: string
  readonly value: Value
}

interface Scenario {
  readonly name: string
  readonly steps: readonly Step[]
}

const url = new URL('../../test/conformance/recordings/openapi.json', import.meta.url)
const { scenarios } = JSON.parse(readFileSync(url, 'utf8')) as { scenarios: Scenario[] }
const DEFINITIONS = kindsOfGroup(builtinTypes(), 'apiextensions.k8s.io')[0]!

describe('responses as recorded', () => {
  const server = builtinServer(DEFINITIONS)
  it.each(scenarios)('$name', scenario => {
    const definitions = new Map<string, ValueObject>()
    for (const step of scenario.steps) {
      if (step.path?.startsWith('/openapi')) {
        const { got, want } = answerTo(server, scenario, step)
        expect(got).toEqual(want)
      }
      if (step.path?.includes('/customresourcedefinitions')) change(server, definitions, step)
    }
  })
})

function change({ registry }: Server, definitions: Map<string, ValueObject>, { method, path, body }: Step): void {
  if (method === 'GET') return
  const name = method === 'POST' ? (at(body as ValueObject, '/metadata/name') as string) : path.split('/').at(-1)!
  const cached = definitions.get(name)
  if (method === 'DELETE') {
    const { group, names } = (cached as unknown as { spec: Definition }).spec
    registry.remove(group, names.plural)
    return
  }
  const definition = method === 'POST' ? (body as ValueObject) : patched(cached!, body as Patch[])
  const { spec } = definition as unknown as { spec: Definition }
  // The first definition with these names keeps them.
  if (method === 'POST' && registry.findKind(spec.group, spec.names.kind)) return
  definitions.set(name, definition)
  registry.put(customKind(spec))
}

function patched(value: ValueObject, patches: readonly Patch[]): ValueObject {
  const copy = structuredClone(value)
  for (const { path, value: member } of patches) {
    const [, parent = '', name = ''] = /^(.*)\/([^/]*)$/.exec(path)!
    ;(at(copy, parent) as ValueObject)[name] = member
  }
  return copy
}

interface Compared {
  readonly got: unknown
  readonly want: unknown
}

function answerTo(server: Server, scenario: Scenario, step: Step): Compared {
  const { path, headers = {}, pick = [], ignore = [], expect: want } = step
  const { status, contentType, body } = want!
  // Authorization is done elsewhere.
  if (headers['authorization'] === null) return { got: status, want: 403 }
  const answer = fetchDocument(server, path, {
    accept: headers['accept'] ?? 'application/json',
    ...(headers['if-none-match'] && { ifNoneMatch: headers['if-none-match'] }),
  })
  // Paths without an endpoint are refused elsewhere.
  if (!answer) return { got: contentType, want: 'text/plain; charset=utf-8' }
  const got = { status: answer.status, contentType: answer.headers['content-type'] }
  if (contentType !== 'application/json') return { got, want: { status, contentType } }
  const document = JSON.parse(answer.body.toString()) as Value
  const picked = Object.fromEntries(pick.map(pointer => [pointer, at(document, pointer)]))
  for (const pointer of ignore) drop(picked, pointer.split('/').slice(1))
  const shown = withoutDescriptions(picked as ValueObject, ownDescriptions(scenario))
  return { got: { ...got, body: shown }, want: { status, contentType, body } }
}

/** For arrays it drops the first entry, like the recorder. */
function drop(value: unknown, [token, ...rest]: readonly string[]): void {
  if (token === undefined || value === null || typeof value !== 'object') return
  const parts = value as Record<string, unknown>
  for (const key of token === '*' ? Object.keys(value) : [token]) {
    if (rest.length > 0) drop(parts[key], rest)
    else if (Array.isArray(value)) value.splice(Number(key) || 0, 1)
    else delete parts[key]
  }
}

function withoutDescriptions(value: Value, own: ReadonlySet<string>, key = ''): Value {
  if (Array.isArray(value)) return value.map(item => withoutDescriptions(item, own))
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, withoutDescriptions(v, own, k)]))
  return key === 'description' && typeof value === 'string' && !own.has(value) ? '<description>' : value
}

function ownDescriptions({ steps }: Scenario): Set<string> {
  const found = new Set<string>()
  const walk = (value: unknown): void => {
    if (!value || typeof value !== 'object') return
    for (const [key, member] of Object.entries(value)) {
      if (key === 'description' && typeof member === 'string') found.add(member)
      else walk(member)
    }
  }
  for (const { expect: _, ...request } of steps) walk(request)
  return found
}
