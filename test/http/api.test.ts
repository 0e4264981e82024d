import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { widgetKind } from '../../src/kinds/fake-kinds.suite.js'
import type { Kind } from '../../src/kinds/kind.js'
import { unclassified } from '../../src/meta/errors/status.js'
import { viewValue } from '../../src/objects/object-view.js'
import {
  type ApiFixture,
  type Client,
  http1Client,
  http2Client,
  linesOf,
  NOTES,
  startApi,
  WIDGETS,
  widget,
} from './api-fixture.js'

interface ItemList {
  readonly metadata: { readonly resourceVersion: string; readonly continue: string }
  readonly items: readonly { readonly metadata: { readonly name: string } }[]
}

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1'

describe.each([
  ['HTTP/1.1', http1Client],
  ['HTTP/2', http2Client],
])('the API over %s', (_name, connect) => {
  let api: ApiFixture
  let client: Client

  beforeEach(async () => {
    api = await startApi()
    client = await connect(api)
  })

  afterEach(async () => {
    client.close()
    await api.close()
  })

  const create = (path: string, name: string, spec: object = {}) =>
    client.send({ method: 'POST', path, body: widget(name, spec) })

  test('an object can be created, read, changed and deleted', async () => {
    const created = await create(WIDGETS, 'a', { color: 'red' })
    expect(created.status).toBe(201)
    expect(created.headers['content-type']).toBe('application/json')
    expect(created.headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/)
    const { resourceVersion } = created.json().metadata

    const read = await client.send({ path: `${WIDGETS}/a`, headers: { 'Audit-ID': 'mine' } })
    expect(read.status).toBe(200)
    expect(read.headers['audit-id']).toBe('mine')
    expect(read.text.endsWith('}\n')).toBe(true)
    expect(read.headers['cache-control']).toBe('no-cache, private')
    expect(read.json()).toMatchObject({ kind: 'Widget', metadata: { name: 'a', resourceVersion } })

    const patched = await client.send({
      method: 'PATCH',
      path: `${WIDGETS}/a`,
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { spec: { color: 'blue' } },
    })
    expect(patched.json().spec.color).toBe('blue')

    const deleted = await client.send({ method: 'DELETE', path: `${WIDGETS}/a` })
    expect(deleted.json()).toMatchObject({ kind: 'Status', status: 'Success', details: { name: 'a' } })
    expect((await client.send({ path: `${WIDGETS}/a` })).status).toBe(404)
  })

  test('lists of custom objects have an empty continue; lists of built-in ones omit it', async () => {
    await create(WIDGETS, 'a')
    await create(NOTES, 'a')
    const widgets = (await client.send({ path: WIDGETS })).json()
    expect(widgets).toMatchObject({ kind: 'WidgetList', metadata: { continue: '' }, items: [{ kind: 'Widget' }] })
    const notes = (await client.send({ path: NOTES })).json()
    expect(Object.keys(notes.metadata)).toEqual(['resourceVersion'])
    expect(Object.keys(notes.items[0])).toEqual(['metadata', 'spec'])
    expect(notes.items[0].metadata.resourceVersion).toMatch(/^\d+$/)
  })

  test('a list that is requested again and again shows every change, at its revision', async () => {
    for (const name of ['a', 'b', 'c']) await create(WIDGETS, name)
    const lists = async (query = '') => {
      const answers = []
      for (let i = 0; i < 4; i++) answers.push((await client.send({ path: `${WIDGETS}${query}` })).text)
      expect(new Set(answers).size).toBe(1)
      const { metadata, items } = JSON.parse(answers[0]!) as ItemList
      return { metadata, names: items.map(({ metadata: { name } }) => name) }
    }
    const { metadata: first, names } = await lists()
    expect(names).toEqual(['a', 'b', 'c'])

    // A write elsewhere changes the revision of the list, and nothing else.
    const note = (await create(NOTES, 'x')).json()
    expect(await lists()).toEqual({ metadata: { ...first, resourceVersion: note.metadata.resourceVersion }, names })

    const page = await lists('?limit=2')
    expect(page).toMatchObject({ metadata: { remainingItemCount: 1 }, names: ['a', 'b'] })
    await create(NOTES, 'y')
    const later = await lists('?limit=2')
    expect(later).toMatchObject({ metadata: { remainingItemCount: 1 }, names: ['a', 'b'] })
    const rest = await client.send({ path: `${WIDGETS}?limit=2&continue=${later.metadata.continue}` })
    expect(rest.json().items.map((each: { metadata: { name: string } }) => each.metadata.name)).toEqual(['c'])
    expect(rest.json().metadata.resourceVersion).toBe(later.metadata.resourceVersion)

    const table = await client.send({ path: `${WIDGETS}?limit=2`, headers: { accept: TABLE } })
    expect(table.json().rows).toHaveLength(2)

    await create(WIDGETS, 'd', { color: 'red' })
    expect((await lists()).names).toEqual(['a', 'b', 'c', 'd'])
    await client.send({ method: 'DELETE', path: `${WIDGETS}/a` })
    expect((await lists()).names).toEqual(['b', 'c', 'd'])
    expect((await lists('?limit=2')).names).toEqual(['b', 'c'])
  })

  test.each(['?', '?limit=100&'])('a long list that is kept shows what was written since (%s)', async query => {
    const name = (i: number) => `w-${String(i).padStart(3, '0')}`
    for (let i = 10; i < 160; i++) await create(WIDGETS, name(i), { text: 'x'.repeat(1000) })
    const lists = async () => {
      const kept = (await client.send({ path: `${WIDGETS}${query}` })).json()
      // This one is read from the store.
      const at = `resourceVersion=${kept.metadata.resourceVersion}&resourceVersionMatch=Exact`
      expect(kept).toEqual((await client.send({ path: `${WIDGETS}${query}${at}` })).json())
    }
    for (let i = 0; i < 4; i++) await lists()
    for (const [i, color] of [10, 90, 159, 91, 90].map((each, at) => [each, `color-${at}`] as const)) {
      await client.send({ method: 'PUT', path: `${WIDGETS}/${name(i)}`, body: widget(name(i), { color }) })
      await lists()
    }
    for (const i of [0, 55, 999]) await create(WIDGETS, `${name(i)}-new`)
    await lists()
    for (const i of [10, 90]) await client.send({ method: 'DELETE', path: `${WIDGETS}/${name(i)}` })
    await lists()
    for (let i = 0; i < 80; i++) await create(WIDGETS, `${name(50)}-${i}`, { text: 'y'.repeat(2000) })
    for (let i = 0; i < 3; i++) await lists()
  })

  test('a long list is streamed completely', async () => {
    const text = 'x'.repeat(1000)
    for (let i = 0; i < 1200; i++) await create(WIDGETS, `w-${String(i).padStart(4, '0')}`, { text })
    const list = await client.send({ path: WIDGETS })
    expect(list.headers['content-length']).toBeUndefined()
    const { items } = list.json()
    expect(items).toHaveLength(1200)
    expect(items[1199]).toMatchObject({ metadata: { name: 'w-1199' }, spec: { text } })

    const zipped = await client.send({ path: WIDGETS, headers: { 'accept-encoding': 'gzip' } })
    expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    expect(JSON.parse(gunzipSync(zipped.bytes).toString()).items).toHaveLength(1200)

    const head = await client.send({ method: 'HEAD', path: WIDGETS, headers: { 'accept-encoding': 'gzip' } })
    expect(head.headers['content-encoding']).toBe('gzip')
    expect(head.bytes).toHaveLength(0)

    const pretty = await client.send({ path: `${WIDGETS}?pretty=true` })
    expect(pretty.text).toBe(JSON.stringify(JSON.parse(pretty.text), null, 2))
  })

  test('a large object is compressed on request; a small one is not', async () => {
    await create(WIDGETS, 'big', { text: 'x'.repeat(140_000) })
    await create(WIDGETS, 'small')
    const gzip = { 'accept-encoding': 'br, gzip' }
    const big = await client.send({ path: `${WIDGETS}/big`, headers: gzip })
    expect(big.headers['content-encoding']).toBe('gzip')
    expect(JSON.parse(gunzipSync(big.bytes).toString()).metadata.name).toBe('big')
    expect((await client.send({ path: `${WIDGETS}/small`, headers: gzip })).headers['content-encoding']).toBeUndefined()
    const picky = { 'accept-encoding': 'gzip;q=0.8' }
    expect((await client.send({ path: `${WIDGETS}/big`, headers: picky })).headers['content-encoding']).toBeUndefined()
  })

  test('a HEAD is a GET without a body for custom kinds, and not allowed for built-in ones', async () => {
    await create(WIDGETS, 'a')
    const head = await client.send({ method: 'HEAD', path: `${WIDGETS}/a` })
    const get = await client.send({ path: `${WIDGETS}/a` })
    expect(head.status).toBe(200)
    expect(head.bytes).toHaveLength(0)
    expect(head.headers['content-length']).toBe(String(get.bytes.length))
    expect((await client.send({ method: 'HEAD', path: NOTES })).status).toBe(405)
  })

  test('a watch sends events in the requested format', async () => {
    await create(WIDGETS, 'a', { color: 'red' })
    const plain = linesOf(await client.open({ path: `${WIDGETS}?watch=true&allowWatchBookmarks=true` }))
    expect((await plain.next()).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
    expect((await plain.next()).value).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'Widget', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    })
    const table = linesOf(await client.open({ path: `${WIDGETS}?watch=true`, headers: { accept: TABLE } }))
    const first = (await table.next()).value.object
    expect(first).toMatchObject({ kind: 'Table', rows: [{ cells: ['a', 'red'] }] })
    expect(first.columnDefinitions).toHaveLength(2)

    await create(WIDGETS, 'b')
    await client.send({ method: 'DELETE', path: `${WIDGETS}/b` })
    const added = (await plain.next()).value
    expect(added).toMatchObject({ type: 'ADDED', object: { kind: 'Widget', metadata: { name: 'b' } } })
    expect((await plain.next()).value).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'b' } } })
    const later = (await table.next()).value
    expect(later).toMatchObject({ type: 'ADDED', object: { columnDefinitions: null, rows: [{ cells: ['b', null] }] } })
  })

  test('a watch ends after its timeout, and all end when the server stops', async () => {
    const short = await client.send({ path: `${WIDGETS}?watch=true&timeoutSeconds=-1` })
    expect(short.status).toBe(200)
    expect(short.text).toBe('')
    const open = linesOf(await client.open({ path: `${WIDGETS}?watch=true` }))
    api.handler.endWatches()
    expect((await open.next()).done).toBe(true)
    expect(api.handler.load.watches).toBe(0)
  })

  test('a watcher that does not read blocks no other, and misses nothing when it reads again', async () => {
    const text = 'x'.repeat(100_000)
    const stalled = await client.open({ path: `${WIDGETS}?watch=true&resourceVersion=0` })
    for (let i = 0; i < 60; i++) await create(WIDGETS, `w-${i}`, { text })
    const names: string[] = []
    for await (const event of linesOf(stalled)) {
      names.push(event.object.metadata.name)
      if (names.length === 60) break
    }
    expect(names).toEqual(Array.from({ length: 60 }, (_, i) => `w-${i}`))
  })

  test('a watch ends when its client disconnects', async () => {
    const { stream } = await client.open({ path: `${WIDGETS}?watch=true` })
    expect(api.handler.load.watches).toBe(1)
    stream.destroy()
    await expect.poll(() => api.handler.load.watches).toBe(0)
  })

  test.each(['identity', 'gzip'])(
    'a client that goes in the middle of a long list (%s) leaves nothing behind',
    async coding => {
      // Random data, which does not compress, so that it exceeds the buffers.
      for (let i = 0; i < 12; i++) await create(WIDGETS, `w-${i}`, { text: randomBytes(400_000).toString('base64') })
      const { stream } = await client.open({ path: WIDGETS, headers: { 'accept-encoding': coding } })
      await once(stream, 'readable')
      expect(api.handler.load.reading).toBe(1)
      stream.destroy()
      await expect.poll(() => api.handler.load.reading).toBe(0)
      expect(api.errors).toEqual([])
      expect((await client.send({ path: `${WIDGETS}/w-0` })).status).toBe(200)
    },
  )

  test('a body of more than 3 MiB is refused, and the connection stays usable', async () => {
    const body = JSON.stringify(widget('a', { text: 'x'.repeat(4 * 1024 * 1024) }))
    const refused = await client.send({ method: 'POST', path: WIDGETS, body })
    expect(refused.status).toBe(413)
    expect(refused.json().message).toBe('Request entity too large: limit is 3145728')
    expect((await create(WIDGETS, 'a')).status).toBe(201)
  })

  test('unknown paths are answered as their prefix would be', async () => {
    const page = await client.send({ path: '/apis/nope.example.com/v1/things' })
    expect([page.status, page.text, page.headers['content-type']]).toEqual([
      404,
      '404 page not found\n',
      'text/plain; charset=utf-8',
    ])
    const status = await client.send({ path: '/api/v1/nonsense', headers: { accept: 'application/yaml' } })
    expect(status.headers['content-type']).toBe('application/yaml')
    expect(status.text).toContain('message: the server could not find the requested resource')
    const malformed = await client.send({ path: `${WIDGETS}/%zz` })
    expect([malformed.status, malformed.text]).toEqual([400, '400 Bad Request'])
    expect((await client.send({ path: '/healthz/ping' })).text).toBe('ok')
    expect((await client.send({ path: '/healthz/' })).status).toBe(404)
  })

  test('methods that a path does not have', async () => {
    const responseTo = async (method: string, path: string) => {
      const { status, json } = await client.send({ method, path, headers: { 'content-type': 'application/json' } })
      return [status, json().message]
    }
    expect(await responseTo('PUT', NOTES)).toEqual([
      405,
      'the server does not allow this method on the requested resource',
    ])
    expect(await responseTo('PUT', WIDGETS)).toEqual([400, 'name must be provided'])
    expect(await responseTo('OPTIONS', WIDGETS)).toEqual([
      405,
      ' is not supported on resources of kind "widgets.example.com"',
    ])
    expect(await responseTo('DELETE', '/api/v1/notes')).toEqual([
      405,
      'the server does not allow this method on the requested resource',
    ])
    expect(await responseTo('GET', `${WIDGETS}/..`)).toEqual([400, `Name parameter invalid: "..": may not be '..'`])
  })

  test('an error of a verb is encoded in the requested format', async () => {
    const yaml = await client.send({ path: `${WIDGETS}/none`, headers: { accept: 'application/yaml' } })
    expect(yaml.headers['content-type']).toBe('application/yaml')
    const html = await client.send({ path: `${WIDGETS}/none`, headers: { accept: 'text/html' } })
    expect(html.status).toBe(406)
    expect(html.text).toBe(JSON.stringify(html.json(), null, 2))
  })
})

describe('limits', () => {
  let api: ApiFixture
  let client: Client
  afterEach(async () => {
    client.close()
    await api.close()
  })

  test('too many concurrent requests are refused, except those of administrators', async () => {
    let release = (): void => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    let arrived = (): void => {}
    const underWay = new Promise<void>(resolve => {
      arrived = resolve
    })
    api = await startApi({
      limits: { maxReading: 1 },
      authenticate: ({ headers }) => ({
        name: 'someone',
        uid: '',
        groups: headers['x-admin'] ? ['system:masters'] : [],
        extra: {},
      }),
      around: verbs => ({
        ...verbs,
        async get(request, target, query) {
          arrived()
          await held
          return verbs.get(request, target, query)
        },
      }),
    })
    client = await http2Client(api)
    const first = client.send({ path: `${WIDGETS}/a` })
    await underWay
    const second = await client.send({ path: `${WIDGETS}/a` })
    expect([second.status, second.headers['retry-after'], second.text]).toEqual([
      429,
      '1',
      'Too many requests, please try again later.\n',
    ])
    expect((await client.send({ path: WIDGETS, headers: { 'x-admin': 'yes' } })).status).toBe(200)
    // A watch does not count.
    expect((await client.open({ path: `${WIDGETS}?watch=true` })).status).toBe(200)
    release()
    expect((await first).status).toBe(404)
    expect((await client.send({ path: `${WIDGETS}/a` })).status).toBe(404)
    expect(api.handler.load.reading).toBe(0)
  })

  test('a request whose error cannot be answered is cut off, and its place is free', async () => {
    let isBroken = true
    api = await startApi({
      limits: { maxReading: 1 },
      authenticate: () => ({ name: 'someone', uid: '', groups: [], extra: {} }),
      around: verbs => ({
        ...verbs,
        get(...args) {
          if (isBroken) throw new Error('a bug')
          return verbs.get(...args)
        },
      }),
      asStatusError() {
        if (isBroken) throw new Error('another bug')
        return undefined
      },
    })
    client = await http2Client(api)
    await expect(client.send({ path: `${WIDGETS}/a` })).rejects.toThrow('NGHTTP2_INTERNAL_ERROR')
    expect(api.handler.load.reading).toBe(0)
    isBroken = false
    expect((await client.send({ path: `${WIDGETS}/a` })).status).toBe(404)
  })

  test('the limit counts for the user that is impersonated', async () => {
    api = await startApi({
      limits: { maxReading: 1 },
      impersonate: async () => ({ user: { name: 'someone', uid: '', groups: [], extra: {} }, constraint: undefined }),
      around: verbs => ({ ...verbs, get: () => new Promise(() => {}) }),
    })
    client = await http2Client(api)
    const first = client.send({ path: `${WIDGETS}/a?timeout=1s` })
    await expect.poll(() => api.handler.load.reading).toBe(1)
    const headers = { 'impersonate-user': 'someone' }
    expect((await client.send({ path: WIDGETS, headers })).status).toBe(429)
    expect((await client.send({ path: WIDGETS })).status).toBe(200)
    expect((await first).status).toBe(504)
  })

  test('a request that takes too long gets a timeout error', async () => {
    api = await startApi({ around: verbs => ({ ...verbs, get: () => new Promise(() => {}) }) })
    client = await http1Client(api)
    const late = await client.send({ path: `${WIDGETS}/a?timeout=10ms` })
    expect([late.status, late.headers['content-type']]).toEqual([504, 'text/plain; charset=utf-8'])
    expect(late.json()).toEqual({
      metadata: {},
      status: 'Failure',
      message: 'Timeout: request did not complete within the allotted timeout',
      reason: 'Timeout',
      details: {},
      code: 504,
    })
    expect((await client.send({ path: `${WIDGETS}?timeout=nonsense` })).json().message).toBe(
      'invalid timeout specified in the request URL - time: invalid duration "nonsense"',
    )
  })

  test.each([
    ['HTTP/1.1', http1Client],
    ['HTTP/2', http2Client],
  ])('a client that goes away, or a deadline that passes, stops the work over %s', async (_, connect) => {
    const { kind, waiting, ended } = slowKind()
    api = await startApi({ kinds: [kind] })
    client = await connect(api)
    const late = await client.send({ method: 'POST', path: `${WIDGETS}?timeout=20ms`, body: widget('a') })
    expect(late.status).toBe(504)
    await expect.poll(ended).toBe(1)
    expect(api.handler.load.mutating).toBe(0)
    client.send({ method: 'POST', path: WIDGETS, body: widget('a') }).catch(() => {})
    await expect.poll(waiting).toBe(2)
    client.close()
    await expect.poll(ended).toBe(2)
    await expect.poll(() => api.handler.load.mutating).toBe(0)
    expect(await api.context.objectStore(kind).get('default', 'a')).toBeUndefined()
    expect(api.errors).toEqual([])
  })

  /** A kind whose conversion never ends, like that of a webhook that hangs. */
  function slowKind() {
    let [waiting, ended] = [0, 0]
    const convert: Kind['convert'] = (_, __, cancellation) =>
      new Promise((___, reject) => {
        waiting++
        cancellation!.signal.addEventListener('abort', () => {
          ended++
          reject(cancellation!.signal.reason as Error)
        })
      })
    return { kind: { ...widgetKind(), convert }, waiting: () => waiting, ended: () => ended }
  }

  test.each([
    ['HTTP/1.1', http1Client],
    ['HTTP/2', http2Client],
  ])('a body that does not come is not waited for over %s', async (_, connect) => {
    api = await startApi({ limits: { requestTimeoutMs: 20 } })
    client = await connect(api)
    const slow = await client.open({ method: 'POST', path: WIDGETS, body: '{', unfinished: true })
    expect(slow.status).toBe(504)
    expect(api.errors).toEqual([])
  })

  test.each([
    ['HTTP/1.1', http1Client],
    ['HTTP/2', http2Client],
  ])('a client that does not take its list is not waited for over %s', async (_, connect) => {
    api = await startApi({ limits: { requestTimeoutMs: 300 } })
    client = await connect(api)
    for (let i = 0; i < 12; i++) {
      const body = widget(`w-${i}`, { text: 'x'.repeat(500_000) })
      await client.send({ method: 'POST', path: WIDGETS, body })
    }
    const { status, stream } = await client.open({ path: WIDGETS })
    expect([status, api.handler.load.reading]).toEqual([200, 1])
    await expect.poll(() => api.handler.load.reading).toBe(0)
    stream.on('error', () => {})
    stream.destroy()
    expect(api.errors).toEqual([])
  })

  test('an internal error is logged and answered, and the next request is served', async () => {
    api = await startApi({ around: verbs => ({ ...verbs, get: () => Promise.reject(new TypeError('oops')) }) })
    client = await http1Client(api)
    const broken = await client.send({ path: `${WIDGETS}/a` })
    expect([broken.status, broken.json().reason]).toEqual([500, 'InternalError'])
    expect(broken.text).not.toContain('oops')
    expect(api.errors).toEqual([new TypeError('oops')])
    expect((await client.send({ path: WIDGETS })).status).toBe(200)
  })

  test('a list that fails while streaming is recognizably incomplete', async () => {
    api = await startApi({
      around: verbs => ({
        ...verbs,
        async list(request, target, query) {
          const list = await verbs.list(request, target, query)
          const shown = viewValue({ ...OBJECT, text: 'x'.repeat(200_000) })
          return {
            ...list,
            pages: (async function* () {
              yield [shown, shown]
              throw unclassified('the store is gone')
            })(),
          }
        },
      }),
    })
    client = await http1Client(api)
    await expect(client.send({ path: WIDGETS })).rejects.toThrow('aborted')
  })

  test('a forbidden request gets details; an unauthenticated one gets fewer', async () => {
    api = await startApi({
      authenticate: ({ headers }) =>
        headers.authorization ? { name: 'alice', uid: '', groups: [], extra: {} } : undefined,
      authorize: async () => ({ allowed: false, reason: '' }),
    })
    client = await http1Client(api)
    expect((await client.send({ path: WIDGETS })).json()).toMatchObject({ code: 401, message: 'Unauthorized' })
    const headers = { authorization: 'Bearer x' }
    const list = await client.send({ path: `${WIDGETS}?fieldSelector=metadata.name%3Da`, headers })
    expect(list.headers['x-content-type-options']).toBe('nosniff')
    expect(list.json().message).toBe(
      'widgets.example.com "a" is forbidden: User "alice" cannot list resource "widgets" in API group "example.com" in the namespace "default"',
    )
    expect((await client.send({ path: '/healthz', headers })).json().message).toBe(
      'forbidden: User "alice" cannot get path "/healthz"',
    )
  })

  test('a deprecated version adds a warning to every response', async () => {
    api = await startApi({ kinds: [widgetKind({ deprecationWarning: 'example.com/v1 Widget is "old"' })] })
    client = await http1Client(api)
    for (const path of [WIDGETS, `${WIDGETS}/none`, `${WIDGETS}?watch=true&timeoutSeconds=-1`]) {
      expect((await client.send({ path })).headers['warning']).toBe('299 - "example.com/v1 Widget is \\"old\\""')
    }
  })
})

const OBJECT = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } }
