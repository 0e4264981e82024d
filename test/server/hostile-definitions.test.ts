// Hostile definitions and objects, sent to the executable: each gets a clear response soon, and the server keeps
// serving other clients.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { begin, type Response, responseTo, sendRequest } from './request.js'

const TOKEN = 'admin-token'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const WIDGETS = '/apis/hostile.example.com/v1/widgets'
/** Far above the time on a busy machine, far below the time without limits. */
const SOON_MS = 15_000

let server: BinnacleProcess
beforeAll(async () => {
  server = await startBinnacleProcess('--storage=memory')
})
afterAll(() => server?.stop())
afterEach(async () => {
  await sendRequest(server, `${DEFINITIONS}/widgets.hostile.example.com`, { token: TOKEN, method: 'DELETE' })
  await vi.waitUntil(async () => (await sendRequest(server, WIDGETS, { token: TOKEN })).status === 404, {
    timeout: 10_000,
  })
  if ((await sendRequest(server, '/readyz', { token: TOKEN })).status !== 200)
    throw new Error('the server is no longer ready')
})

/** Sends a text unchanged, which JSON.stringify could not always produce. */
async function send(path: string, text: string, type = 'application/json', method = 'POST'): Promise<Response> {
  const asking = begin(server, path, { method, token: TOKEN, headers: { 'content-type': type } })
  asking.end(text)
  return responseTo(asking)
}

const definition = (schema: string): string => `{
  "apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.hostile.example.com"},
  "spec":{"group":"hostile.example.com","scope":"Cluster","names":{"plural":"widgets","kind":"Widget"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}]}}`

const withSpec = (spec: string): string => definition(`{"type":"object","properties":{"spec":${spec}}}`)

const define = async (schema: string): Promise<void> => {
  expect(await send(DEFINITIONS, withSpec(schema))).toMatchObject({ status: 201 })
}

const widget = (spec: string, name = 'a'): string =>
  `{"apiVersion":"hostile.example.com/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":${spec}}`

const nested = (open: string, inside: string, close: string, depth: number): string =>
  open.repeat(depth) + inside + close.repeat(depth)

describe('definitions', { timeout: SOON_MS }, () => {
  test.each([
    ['items', nested('{"type":"array","items":', '{"type":"string"}', '}', 4_900)],
    ['properties', nested('{"type":"object","properties":{"a":', '{"type":"string"}', '}}', 3_000)],
    ['not', nested('{"not":', '{"type":"string"}', '}', 4_900)],
    ['allOf', nested('{"allOf":[', '{"type":"string"}', ']}', 3_000)],
  ])('whose schema nests by %s beyond measure are refused', async (_, schema) => {
    const { status, body } = await send(DEFINITIONS, withSpec(schema))
    expect([400, 422]).toContain(status)
    expect(body.message).toMatch(/nested more than \d+ schemas deep|exceeded max depth/)
  })

  test('that are nested 10,000 deep as JSON are refused', async () => {
    const { status, body } = await send(DEFINITIONS, withSpec(nested('{"not":', '{}', '}', 10_000)))
    expect(status).toBe(400)
    expect(body.message).toContain('exceeded max depth')
  })

  test('with 100,000 values in an enum, and as many properties, are served', async () => {
    const values = Array.from({ length: 100_000 }, (_, i) => `"v${i}"`).join(',')
    const properties = Array.from({ length: 20_000 }, (_, i) => `"p${i}":{"type":"integer"}`).join(',')
    await define(`{"type":"object","properties":{"one":{"type":"string","enum":[${values}]},${properties}}}`)
    expect((await send(WIDGETS, widget('{"one":"v99999","p19999":1}'))).status).toBe(201)
    const refused = await send(WIDGETS, widget('{"one":"other"}', 'b'))
    expect(refused.status).toBe(422)
    expect(refused.body.message).toContain('spec.one: Unsupported value: "other"')
  })

  test('may have names of object methods as properties and map keys', async () => {
    await define(
      '{"type":"object","properties":{"__proto__":{"type":"object","properties":{"constructor":{"type":"integer","default":7}}},"constructor":{"type":"string"},"map":{"type":"object","additionalProperties":{"type":"string"}}}}',
    )
    const sent =
      '{"__proto__":{"polluted":true},"constructor":"c","map":{"__proto__":"x","toString":"y"},"hasOwnProperty":1}'
    const { status, text } = await send(WIDGETS, widget(sent))
    expect(status).toBe(201)
    expect(text).toContain(
      '"spec":{"__proto__":{"constructor":7},"constructor":"c","map":{"__proto__":"x","toString":"y"}}',
    )
    const patched = await send(`${WIDGETS}/a`, '{"spec":{"__proto__":{"constructor":"x"}}}', MERGE_PATCH, 'PATCH')
    expect(patched.status).toBe(422)
    expect(patched.body.message).toContain('spec.__proto__.constructor')
  })

  test.each(['__proto__', 'constructor', 'toString'])('cannot define a version or a plural called %s', async name => {
    const named = withSpec('{"type":"object"}').replace('"v1"', `"${name}"`).replace('"widgets"', `"${name}"`)
    const { status, body } = await send(DEFINITIONS, named)
    expect(status).toBe(422)
    expect(body.message).toContain('spec.names.plural')
  })
})

describe('objects', { timeout: SOON_MS }, () => {
  test('are matched with patterns that make other engines backtrack in linear time', async () => {
    await define(
      '{"type":"object","properties":{"p":{"type":"string","pattern":"^(a+)+$"},"q":{"type":"string","pattern":"^(.*a){20}$"}}}',
    )
    const long = 'a'.repeat(100_000)
    const { status, body } = await send(WIDGETS, widget(`{"p":"${long}!","q":"${long}b"}`))
    expect(status).toBe(422)
    expect(body.details.causes.map(({ field }: { field: string }) => field)).toEqual(['spec.p', 'spec.q'])
    expect((await send(WIDGETS, widget(`{"p":"${long}"}`))).status).toBe(201)
  })

  test.each([
    [15_000, 422, 'are refused with a response that is not much larger'],
    [220_000, 413, 'are too many values'],
  ])('with %d nested lists of wrong type: %d, they %s', async (count, expected) => {
    await define('{"type":"array","items":{"type":"string"}}')
    const lists = `[${'[[],[[]],[]],'.repeat(count)}[]]`
    const { status, text, body } = await send(WIDGETS, widget(lists))
    expect(status).toBe(expected)
    expect(body.kind).toBe('Status')
    expect(text.length).toBeLessThan(1024 * 1024)
  })

  test('nested almost 10,000 deep are stored if allowed, and returned unchanged', async () => {
    await define('{"x-kubernetes-preserve-unknown-fields":true}')
    const deep = nested('[', '1', ']', 9_900)
    expect((await send(WIDGETS, widget(deep))).status).toBe(201)
    expect((await sendRequest(server, `${WIDGETS}/a`, { token: TOKEN })).text).toContain(`"spec":${deep}`)
    expect((await send(`${WIDGETS}/a`, '{"metadata":{"labels":{"a":"b"}}}', MERGE_PATCH, 'PATCH')).status).toBe(200)
    const deeper = await send(WIDGETS, widget(nested('[', '1', ']', 10_001), 'b'))
    expect(deeper.status).toBe(400)
    expect(deeper.body.message).toContain('exceeded max depth')
  })
})

const MERGE_PATCH = 'application/merge-patch+json'
