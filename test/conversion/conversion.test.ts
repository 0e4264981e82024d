// Conversion by webhooks and functions through a running server, and what still works when a webhook fails.
import { afterEach, describe, expect, it } from 'vitest'
import { type Binnacle, type BinnacleOptions, startBinnacle } from '../../src/server/index.js'
import { begin, type SendOptions, sendRequest } from '../server/request.js'
import { startWebhookServer, type WebhookServer } from './webhook-server.js'

const GROUP = 'example.com'
const DEFINITION = `widgets.${GROUP}`
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const SERVICE = { namespace: 'default', name: 'converter', path: '/convert' }
const SERVICE_HOST = 'converter.default.svc'

let stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.toReversed()) await stop()
  stops = []
})

async function start(options: BinnacleOptions = {}) {
  const server: Binnacle = await startBinnacle(options)
  stops.push(() => server.stop())
  const request = (method: string, path: string, body?: unknown) =>
    sendRequest(server, path, { method, body, token: server.token })
  return {
    server,
    get: (path: string) => request('GET', path),
    post: (path: string, body: unknown) => request('POST', path, body),
    put: (path: string, body: unknown) => request('PUT', path, body),
    remove: (path: string) => request('DELETE', path),
  }
}

type Api = Awaited<ReturnType<typeof start>>

async function startWebhook(hosts?: readonly string[]): Promise<WebhookServer> {
  const webhook = await startWebhookServer(hosts)
  stops.push(() => webhook.stop())
  return webhook
}

const properties = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, { type: 'string' }]))

const version = (name: string, storage: boolean, fields: readonly string[]) => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', properties: properties(fields) } },
  selectableFields: fields.map(field => ({ jsonPath: `.${field}` })),
})

const definition = (clientConfig: object | undefined, stored = 'v1') => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: DEFINITION },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget' },
    versions: [version('v1', stored === 'v1', ['host', 'port']), version('v1beta1', stored !== 'v1', ['hostPort'])],
    ...(clientConfig && {
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } },
    }),
  },
})

const at = (apiVersion: string, namespace = 'default') => `/apis/${GROUP}/${apiVersion}/namespaces/${namespace}/widgets`

const widget = (name: string, content: object = { host: 'h', port: '1' }, metadata: object = {}) => ({
  apiVersion: `${GROUP}/${'hostPort' in content ? 'v1beta1' : 'v1'}`,
  kind: 'Widget',
  metadata: { name, ...metadata },
  ...content,
})

const urlOf = ({ port, caBundle }: WebhookServer) => ({ url: `https://127.0.0.1:${port}/convert`, caBundle })

/** The server with a definition whose objects the webhook converts. */
async function startWith(webhook: WebhookServer, options?: BinnacleOptions): Promise<Api> {
  const api = await start(options)
  expect((await api.post(DEFINITIONS, definition(urlOf(webhook)))).status).toBe(201)
  return api
}

/** Changes the storage version. */
async function flip(api: Api, webhook: WebhookServer): Promise<void> {
  const path = `${DEFINITIONS}/${DEFINITION}`
  const { body } = await api.get(path)
  const { spec } = definition(urlOf(webhook), 'v1beta1')
  expect((await api.put(path, { ...body, spec })).status).toBe(200)
}

async function gone(api: Api, path: string): Promise<void> {
  await expect.poll(async () => (await api.get(path)).status, { timeout: 20_000 }).toBe(404)
}

describe('a list in another version', () => {
  it('is converted in one call', async () => {
    const webhook = await startWebhook()
    const api = await startWith(webhook)
    for (let i = 0; i < 20; i++) await api.post(at('v1'), widget(`w${i}`))
    expect(webhook.calls).toEqual([])
    const { body } = await api.get(at('v1beta1'))
    expect(body.items).toHaveLength(20)
    expect(body.items[0].hostPort).toBe('h:1')
    expect(webhook.calls).toEqual([20])
    await api.get(`${at('v1beta1')}?limit=7`)
    expect(webhook.calls).toEqual([20, 7])
    expect(webhook.connections).toBe(1)
  })

  it('is selected by the fields of that version', async () => {
    const webhook = await startWebhook()
    const api = await startWith(webhook)
    for (const port of ['1', '2', '3']) await api.post(at('v1'), widget(`w${port}`, { host: 'h', port }))
    const names = async (query: string) =>
      (await api.get(`${at('v1beta1')}?${query}`)).body.items.map(
        (item: { metadata: { name: string } }) => item.metadata.name,
      )
    expect(await names('fieldSelector=hostPort%3Dh:2')).toEqual(['w2'])
    expect(await names('fieldSelector=hostPort!%3Dh:2&limit=1')).toEqual(['w1'])
    expect(await names('fieldSelector=metadata.name%3Dw3')).toEqual(['w3'])
    expect(webhook.calls.at(-1)).toBe(1)
  })
})

describe('a watch in another version', () => {
  it('gets the existing objects in one call, and each event converted once for all watchers', async () => {
    const webhook = await startWebhook()
    const api = await startWith(webhook)
    for (const name of ['a', 'b', 'c']) await api.post(at('v1'), widget(name))
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const watches = [watch(api, `${at('v1beta1')}?${query}`)]
    expect((await watches[0]!.read(4)).map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'ADDED', 'BOOKMARK'])
    expect(webhook.calls).toEqual([3])
    const { resourceVersion } = (await api.get(at('v1'))).body.metadata
    for (const selector of ['', '&fieldSelector=hostPort%3Dh:9'])
      watches.push(watch(api, `${at('v1beta1')}?watch=true&resourceVersion=${resourceVersion}${selector}`))
    await api.post(at('v1'), widget('d', { host: 'h', port: '9' }))
    for (const each of watches) {
      const [event] = await each.read(1)
      expect(event).toMatchObject({ type: 'ADDED', object: { apiVersion: `${GROUP}/v1beta1`, hostPort: 'h:9' } })
    }
    expect(webhook.calls).toEqual([3, 1])
    await api.remove(`${at('v1')}/d`)
    for (const each of watches) {
      expect((await each.read(1))[0]).toMatchObject({ type: 'DELETED', object: { hostPort: 'h:9' } })
      each.stop()
    }
    expect(webhook.calls).toEqual([3, 1, 1])
  })

  it('gets an error when a conversion fails, and ends', async () => {
    const webhook = await startWebhook()
    const api = await startWith(webhook)
    const { resourceVersion } = (await api.get(at('v1'))).body.metadata
    const seen = watch(api, `${at('v1beta1')}?watch=true&resourceVersion=${resourceVersion}`)
    await webhook.stop()
    await api.post(at('v1'), widget('a'))
    expect((await seen.read(1))[0]).toMatchObject({ type: 'ERROR', object: { reason: 'InternalError', code: 500 } })
    await seen.ended
  })
})

describe('a webhook that is unreachable', () => {
  it('does not affect requests in the storage version', async () => {
    const webhook = await startWebhook()
    const api = await startWith(webhook)
    await api.post(at('v1beta1'), widget('a', { hostPort: 'h:1' }))
    await webhook.stop()
    const { status, body } = await api.get(`${at('v1beta1')}/a`)
    expect([status, body.reason]).toEqual([500, undefined])
    expect(body.message).toContain(`conversion webhook for ${GROUP}/v1, Kind=Widget failed: Post "https://127.0.0.1:`)
    expect((await api.get(at('v1beta1'))).body.message).toMatch(/^conversion webhook for example.com\/v1, /)
    const { body: stored } = await api.get(`${at('v1')}/a`)
    expect((await api.put(`${at('v1')}/a`, { ...stored, port: '2' })).status).toBe(200)
    expect((await api.get(at('v1'))).body.items).toHaveLength(1)
    expect((await api.remove(`${at('v1')}/a`)).status).toBe(200)
  })

  it('does not prevent deletion of the definition', async () => {
    const webhook = await startWebhook()
    const api = await startWith(webhook)
    await api.post(at('v1'), widget('a'))
    await flip(api, webhook)
    await webhook.stop()
    expect((await api.get(`${at('v1beta1')}/a`)).status).toBe(500)
    expect((await api.remove(`${DEFINITIONS}/${DEFINITION}`)).status).toBe(200)
    await gone(api, `${DEFINITIONS}/${DEFINITION}`)
  })

  it('does not prevent deletion of a namespace', async () => {
    const webhook = await startWebhook()
    const api = await startWith(webhook)
    await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'going' } })
    expect((await api.post(at('v1', 'going'), widget('a'))).status).toBe(201)
    await flip(api, webhook)
    await webhook.stop()
    await api.remove('/api/v1/namespaces/going')
    await gone(api, '/api/v1/namespaces/going')
  })

  it('does not prevent garbage collection', async () => {
    const webhook = await startWebhook()
    const api = await startWith(webhook)
    const maps = '/api/v1/namespaces/default/configmaps'
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner' } }
    const { uid } = (await api.post(maps, owner)).body.metadata
    const { uid: other } = (await api.post(maps, { ...owner, metadata: { name: 'other' } })).body.metadata
    const ownedBy = (...of: [string, string][]) => ({
      ownerReferences: of.map(([name, id]) => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: id })),
    })
    await api.post(at('v1'), widget('a', undefined, ownedBy(['owner', uid])))
    await api.post(at('v1'), widget('b', undefined, ownedBy(['owner', uid], ['other', other])))
    await flip(api, webhook)
    await webhook.stop()
    await api.remove(`${maps}/owner`)
    await gone(api, `${at('v1')}/a`)
    const owners = async () => (await api.get(`${at('v1')}/b`)).body.metadata?.ownerReferences?.length
    await expect.poll(owners, { timeout: 20_000 }).toBe(1)
  })
})

it('a definition whose objects are stored in a removed version can be deleted', async () => {
  const api = await start()
  const path = `${DEFINITIONS}/${DEFINITION}`
  await api.post(DEFINITIONS, definition(undefined, 'v1beta1'))
  await api.post(at('v1beta1'), widget('a', { hostPort: 'h:1' }))
  const put = async (place: string, change: (old: ReturnType<typeof definition> & { status: object }) => object) =>
    expect((await api.put(place, change((await api.get(path)).body))).status).toBe(200)
  await put(path, old => ({ ...old, spec: { ...old.spec, versions: definition(undefined).spec.versions } }))
  await put(`${path}/status`, old => ({ ...old, status: { ...old.status, storedVersions: ['v1'] } }))
  await put(path, old => ({ ...old, spec: { ...old.spec, versions: [version('v1', true, ['host', 'port'])] } }))
  expect((await api.get(`${at('v1')}/a`)).status).toBe(500)
  await api.remove(path)
  await gone(api, path)
})

it('a webhook that hangs blocks only requests that need it', async () => {
  const webhook = await startWebhook()
  const api = await startWith(webhook)
  await api.post(at('v1'), widget('a'))
  let release = () => {}
  webhook.holdUntil(new Promise<void>(resolve => (release = resolve)))
  const waiting = api.get(`${at('v1beta1')}/a`)
  await expect.poll(() => webhook.calls.length).toBe(1)
  expect((await api.get(`${at('v1')}/a`)).status).toBe(200)
  expect((await api.post(at('v1'), widget('b'))).status).toBe(201)
  release()
  expect((await waiting).body.hostPort).toBe('h:1')
})

describe('the service of a webhook is found', () => {
  it('by its Service and Endpoints', async () => {
    const webhook = await startWebhook([SERVICE_HOST])
    const api = await start()
    const { port, caBundle } = webhook
    await api.post(DEFINITIONS, definition({ service: { ...SERVICE, port }, caBundle }))
    await api.post(at('v1'), widget('a'))
    expect((await api.get(`${at('v1beta1')}/a`)).body.message).toContain('service "converter" not found')
    const { status } = await api.post('/api/v1/namespaces/default/services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'converter' },
      spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
    })
    expect(status).toBe(201)
    expect((await api.get(`${at('v1beta1')}/a`)).body.hostPort).toBe('h:1')
  })

  it('at the address in the options', async () => {
    const webhook = await startWebhook([SERVICE_HOST])
    const api = await start({ webhookHosts: { [SERVICE_HOST]: `127.0.0.1:${webhook.port}` } })
    await api.post(DEFINITIONS, definition({ service: SERVICE, caBundle: webhook.caBundle }))
    await api.post(at('v1'), widget('a'))
    expect((await api.get(`${at('v1beta1')}/a`)).body.hostPort).toBe('h:1')
  })
})

it('functions of the embedding program convert instead of a webhook', async () => {
  const api = await start({
    conversions: {
      [DEFINITION]: (object, to) => {
        const { host, port, hostPort, ...rest } = object as typeof object & Record<string, string | undefined>
        if (!to.endsWith('/v1')) return { ...rest, apiVersion: to, hostPort: `${host}:${port}` }
        const [before, after] = (hostPort ?? '').split(':')
        if (after === undefined) throw new Error('there is no port in it')
        return { ...rest, apiVersion: to, host: before, port: after }
      },
    },
  })
  await api.post(DEFINITIONS, definition(undefined))
  expect((await api.post(at('v1beta1'), widget('a', { hostPort: 'h:1' }))).status).toBe(201)
  expect((await api.get(`${at('v1')}/a`)).body).toMatchObject({ host: 'h', port: '1' })
  expect((await api.post(at('v1beta1'), widget('b', { hostPort: 'h' }))).body).toMatchObject({
    code: 500,
    message: `conversion function for ${GROUP}/v1beta1, Kind=Widget failed: there is no port in it`,
  })
})

// ---- watches

interface WatchEvent {
  readonly type: string
  readonly object: Record<string, unknown>
}

function watch({ server }: Api, path: string) {
  const question: SendOptions = { token: server.token }
  const asking = begin(server, path, question)
  const events: WatchEvent[] = []
  let wake = () => {}
  const ended = new Promise<void>(resolve => {
    asking.on('close', () => resolve())
    asking.on('error', () => resolve())
  })
  asking.on('response', response => {
    let rest = ''
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop()!
      events.push(...lines.map(line => JSON.parse(line) as WatchEvent))
      wake()
    })
  })
  asking.end()
  return {
    ended,
    /** Reads this many events. */
    async read(count: number): Promise<WatchEvent[]> {
      while (events.length < count) await new Promise<void>(resolve => (wake = resolve))
      return events.splice(0, count)
    },
    stop: () => asking.destroy(),
  }
}
