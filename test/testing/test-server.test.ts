// `binnacle/testing`: what a test does with its server.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type KubernetesObject, startBinnacle, type TestServer } from '../../src/testing/index.js'

const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})

let server: TestServer
const directory = mkdtempSync(join(tmpdir(), 'binnacle-test-server-'))

beforeAll(async () => {
  server = await startBinnacle()
})

afterEach(async () => {
  server.faults.clear()
  await server.reset()
})

afterAll(async () => {
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
})

describe('objects', () => {
  test('YAML of several documents is applied, definitions first', async () => {
    const applied = await server.apply(`
apiVersion: example.com/v1
kind: Widget
metadata: {name: first, namespace: default}
spec: {size: 1}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`)
    expect(applied.map(({ kind }) => kind)).toEqual(['Widget', 'CustomResourceDefinition'])
    const reference = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'first' } }
    expect((await server.get(reference))['spec']).toEqual({ size: 1 })
  })

  test('a folder is applied', async () => {
    writeFileSync(join(directory, 'a.yaml'), JSON.stringify(configMap('from-a')))
    writeFileSync(join(directory, 'b.json'), JSON.stringify(configMap('from-b')))
    await server.apply(directory)
    expect((await server.fetch('/api/v1/namespaces/default/configmaps/from-b')).status).toBe(200)
  })

  test('a refusal is thrown with its Status', async () => {
    const wrong = { ...configMap('Wrong Name') }
    await expect(server.apply(wrong)).rejects.toMatchObject({ name: 'StatusError', code: 422, reason: 'Invalid' })
  })

  test('waitFor resolves when the condition holds', async () => {
    const object = configMap('awaited')
    const isThere = server.waitFor(object, 'exists')
    await server.apply(object)
    expect((await isThere)?.metadata.name).toBe('awaited')
    const isChanged = server.waitFor(object, each => (each['data'] as { a?: string } | undefined)?.a === '1')
    await server.apply(configMap('awaited', { a: '1' }))
    await isChanged
    const isGone = server.waitFor(object, 'deleted')
    await server.delete(object)
    await isGone
    await server.waitFor(object, 'deleted')
  })

  test('waitFor fails with the last state', async () => {
    await server.apply(configMap('still'))
    await expect(server.waitFor(configMap('still'), 'Ready', { timeoutMs: 1500 })).rejects.toThrow(
      /ConfigMap still did not become Ready within 1500 ms; its last state:\n\{/,
    )
  })

  test('events are those from now on', async () => {
    const events = server.events('/api/v1/namespaces/default/secrets')
    const first = events.next()
    await server.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'watched' } })
    expect(await first).toMatchObject({ value: { type: 'ADDED', object: { metadata: { name: 'watched' } } } })
    await events.return(undefined)
  })
})

describe('copies', () => {
  test('a fork has the objects and the users, and changes alone', async () => {
    const user = server.users.create({ name: 'jane', groups: ['system:masters'] })
    await server.apply(configMap('shared'))
    const fork = await server.fork()
    try {
      expect((await fork.get(configMap('shared'))).metadata.name).toBe('shared')
      await fork.apply(configMap('only-in-fork'))
      await server.apply(configMap('only-in-first'))
      const names = async (from: TestServer) =>
        (
          (await (await from.fetch('/api/v1/namespaces/default/configmaps')).json()) as {
            items: { metadata: { name: string } }[]
          }
        ).items
          .map(({ metadata }) => metadata.name)
          .filter(name => name.startsWith('only'))
      expect([await names(server), await names(fork)]).toEqual([['only-in-first'], ['only-in-fork']])
      const whoami = await fork.fetch('/api/v1/namespaces', { headers: { authorization: `Bearer ${user.token}` } })
      expect(whoami.status).toBe(200)
    } finally {
      await fork.stop()
    }
  })

  test('a fork has the custom resources', async () => {
    await server.apply({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gears.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'gears', kind: 'Gear' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    })
    const fork = await server.fork()
    await fork.apply({ apiVersion: 'example.com/v1', kind: 'Gear', metadata: { name: 'one' } })
    expect((await server.fetch('/apis/example.com/v1/gears/one')).status).toBe(404)
    await fork.stop()
  })

  test('requests that come before a fork or a reset server has started are answered', async () => {
    await server.apply(configMap('shared'))
    const forks = await Promise.all(Array.from({ length: 10 }, () => server.fork()))
    const own = forks.map((fork, i) => fork.apply(configMap(`own-${i}`)).then(() => fork.get(configMap(`own-${i}`))))
    const shared = forks.map(fork => fork.get(configMap('shared')))
    expect((await Promise.all([...own, ...shared])).map(({ metadata }) => metadata.name)).toEqual([
      ...forks.map((_, i) => `own-${i}`),
      ...forks.map(() => 'shared'),
    ])
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
    const [, found] = await Promise.all([server.reset(), server.get(namespace)])
    expect(found.metadata.name).toBe('default')
    await Promise.all(forks.map(fork => fork.stop()))
  })

  test('a fork and a reset server have the certificates of the first', async () => {
    const fork = await server.fork()
    await server.reset()
    expect([fork.ca, server.ca]).toEqual([server.ca, server.ca])
    const root = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kube-root-ca.crt', namespace: 'default' } }
    for (const each of [fork, server]) {
      const published = await each.waitFor(root, 'exists')
      expect(published?.['data']['ca.crt'].trim()).toBe(server.ca.trim())
    }
    await fork.stop()
  })

  test('reset goes back to the start, or to a snapshot', async () => {
    await server.apply(configMap('a'))
    server.snapshot('with a')
    await server.apply(configMap('b'))
    await server.reset('with a')
    expect((await server.fetch('/api/v1/namespaces/default/configmaps/a')).status).toBe(200)
    expect((await server.fetch('/api/v1/namespaces/default/configmaps/b')).status).toBe(404)
    await server.reset()
    expect((await server.fetch('/api/v1/namespaces/default/configmaps/a')).status).toBe(404)
    await expect(server.reset('unknown')).rejects.toThrow('there is no snapshot unknown: there are with a')
  })

  test('a reset ends watches, and a resumed watch is answered 410', async () => {
    const { metadata } = (await (await server.fetch('/api/v1/secrets')).json()) as {
      metadata: { resourceVersion: string }
    }
    const watch = await server.fetch(`/api/v1/secrets?watch=true&resourceVersion=${metadata.resourceVersion}`)
    await server.reset()
    expect(await watch.text()).toBe('')
    const resumed = await server.fetch(`/api/v1/secrets?watch=true&resourceVersion=${metadata.resourceVersion}`)
    expect(await resumed.text()).toContain('"code":410')
  })

  test('a snapshot in a file starts another server', async () => {
    await server.apply(configMap('saved', { a: '1' }))
    const file = join(directory, 'snapshot')
    await server.saveSnapshot(file)
    const other = await startBinnacle({ snapshot: file, protocol: 'http' })
    expect((await other.get(configMap('saved')))['data']).toEqual({ a: '1' })
    await other.stop()
    writeFileSync(file, 'no snapshot')
    await expect(startBinnacle({ snapshot: file })).rejects.toThrow('is not a snapshot')
  })
})

describe('faults', () => {
  test('a request is refused as often as the fault says', async () => {
    server.faults.inject({ verb: 'get', resource: 'configmaps', status: 503, retryAfter: 7, times: 1 })
    const refused = await server.fetch('/api/v1/namespaces/default/configmaps/x')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '7'])
    expect((await server.fetch('/api/v1/namespaces/default/configmaps/x')).status).toBe(404)
    expect(server.faults.report.at(-1)).toMatchObject({ verb: 'get', fault: { status: 503 } })
  })

  test.each([
    ['before', 404],
    ['after', 200],
  ] as const)('a connection is cut %s the write takes effect', async (cut, status) => {
    server.faults.inject({ verb: 'patch', cut, times: 1 })
    await expect(server.apply(configMap('cut'))).rejects.toThrow(/hang up|ECONNRESET|closed/)
    expect((await server.fetch('/api/v1/namespaces/default/configmaps/cut')).status).toBe(status)
  })

  test('a list shows an earlier state', async () => {
    const asOf = server.resourceVersion()
    await server.apply(configMap('new'))
    server.faults.inject({ verb: 'list', resource: 'configmaps', asOf })
    expect(await (await server.fetch('/api/v1/namespaces/default/configmaps')).text()).not.toContain('"name":"new"')
  })

  test('a get and a watch show an earlier state, and the watch goes on with what was written since', async () => {
    await server.apply([configMap('old', { a: '1' }), configMap('gone', { a: '1' })])
    const asOf = server.resourceVersion()
    await server.apply([configMap('old', { a: '2' }), configMap('new')])
    await server.delete(configMap('gone'))
    const path = '/api/v1/namespaces/default/configmaps'
    server.faults.inject({ resource: 'configmaps', asOf })
    expect(await server.get(configMap('old'))).toMatchObject({ data: { a: '1' } })
    expect((await server.get(configMap('gone'))).metadata.name).toBe('gone')
    await expect(server.get(configMap('new'))).rejects.toMatchObject({ code: 404, reason: 'NotFound' })
    server.faults.inject({ verb: 'watch', watch: { dropAfter: 5 } })
    const watch = await server.fetch(
      `${path}?watch=true&allowWatchBookmarks=true&fieldSelector=metadata.name!=kube-root-ca.crt`,
    )
    const events = (await watch.text())
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as { type: string; object: KubernetesObject })
    expect(
      events.map(({ type, object }) => `${type} ${object.metadata.name ?? object.metadata['resourceVersion']}`),
    ).toEqual(['ADDED gone', 'ADDED old', `BOOKMARK ${asOf}`, 'MODIFIED old', 'ADDED new', 'DELETED gone'])
  })

  test('a watch is dropped after some events', async () => {
    server.faults.inject({ verb: 'watch', watch: { dropAfter: 2 } })
    await server.apply([configMap('one'), configMap('two'), configMap('three')])
    const events = await (await server.fetch('/api/v1/namespaces/default/configmaps?watch=true')).text()
    expect(events.trim().split('\n')).toHaveLength(2)
  })

  test('history can be compacted', async () => {
    const { metadata } = await server.apply(configMap('old')).then(([object]) => object!)
    await server.apply(configMap('newer'))
    await server.compactHistory()
    const watch = await server.fetch(`/api/v1/configmaps?watch=true&resourceVersion=${metadata.resourceVersion}`)
    expect(await watch.text()).toContain('too old resource version')
  })

  test.each([409, 410, 429, 500, 503, 504])('a request is answered %i', async status => {
    server.faults.inject({ kind: 'Secret', name: 'x', user: 'kubernetes-admin', status, times: 1 })
    expect((await server.fetch('/api/v1/namespaces/default/secrets/x')).status).toBe(status)
    expect((await server.fetch('/api/v1/namespaces/default/secrets/x')).status).toBe(404)
  })

  test('a request is late', async () => {
    server.faults.inject({ verb: 'get', resource: 'secrets', latency: 40, times: 1 })
    await server.fetch('/api/v1/namespaces/default/secrets/x')
    const [request] = server.requests.filter({ resource: 'secrets' }).slice(-1)
    expect(request!.milliseconds).toBeGreaterThanOrEqual(39)
  })

  test('events of one kind come after later ones of another', async () => {
    // Only the timer of the delay is replaced: the rest of the server works in turns of the event loop.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      server.faults.inject({ verb: 'watch', resource: 'configmaps', watch: { delay: '1m' } })
      const [first, second] = ['configmaps', 'secrets'].map(plural =>
        server.events(`/api/v1/namespaces/default/${plural}`).next(),
      )
      await server.apply([configMap('first'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'second' } }])
      expect(await second).toMatchObject({ value: { object: { kind: 'Secret' } } })
      let isDelivered = false
      const delivered = first!.finally(() => (isDelivered = true))
      await new Promise(resolve => setImmediate(resolve))
      expect(isDelivered).toBe(false)
      await vi.waitUntil(() => vi.advanceTimersByTime(60_000) && isDelivered, { timeout: 10_000 })
      expect(await delivered).toMatchObject({ value: { object: { kind: 'ConfigMap' } } })
    } finally {
      vi.useRealTimers()
    }
  })

  test('a watch is refused as too old', async () => {
    server.faults.inject({ verb: 'watch', watch: { expired: true }, times: 1 })
    expect(await (await server.fetch('/api/v1/configmaps?watch=true')).text()).toContain('"code":410')
  })

  test('a webhook cannot be reached', async () => {
    await server.apply({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'checks' },
      webhooks: [
        {
          name: 'checks.example.com',
          clientConfig: { url: 'https://checks.example.com/validate' },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
          failurePolicy: 'Fail',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    })
    server.faults.inject({ webhook: 'checks.example.com' })
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'checked' } }
    await expect(server.apply(secret)).rejects.toThrow(
      /failed calling webhook "checks.example.com".*checks.example.com:443: connect: connection refused/,
    )
    expect(server.faults.report.at(-1)).toMatchObject({ verb: 'webhook', path: 'checks.example.com' })
    expect(() => server.faults.inject({ webhook: '*', status: 500 })).toThrow('a fault of a webhook has no status')
  })

  test('chaos is the same for the same seed', async () => {
    const run = async () => {
      const end = server.faults.chaos({ seed: 7, plan: 'mild', probability: 0.3 })
      const before = server.faults.report.length
      const statuses: number[] = []
      for (let i = 0; i < 20; i++) statuses.push((await server.fetch('/api/v1/namespaces/default/configmaps/x')).status)
      end()
      return { statuses, injected: server.faults.report.slice(before).map(({ fault }) => fault) }
    }
    const first = await run()
    expect(await run()).toEqual(first)
    expect(first.statuses).toContain(429)
  })

  test('a plan of faults of your own is the same for the same seed', async () => {
    const plan = [
      { kind: 'ConfigMap', status: 500 },
      { verb: 'get', status: 503, probability: 0.5 },
    ]
    const run = async (seed: number) => {
      const end = server.faults.chaos({ seed, plan, probability: 0.1 })
      const statuses: number[] = []
      for (let i = 0; i < 20; i++) statuses.push((await server.fetch('/api/v1/namespaces/default/configmaps/x')).status)
      end()
      return statuses
    }
    const first = await run(1)
    expect(await run(1)).toEqual(first)
    expect(new Set(first)).toEqual(new Set([404, 500, 503]))
    expect(await run(2)).not.toEqual(first)
    expect(() => server.faults.chaos({ seed: 1, plan: 'wild' as 'mild' })).toThrow('mild, rough or a list of faults')
    expect(() => server.faults.chaos({ seed: 1, plan: [{ statsu: 500 } as object] })).toThrow('did you mean status?')
  })

  test('a wrong fault throws, with the right one named', () => {
    expect(() => server.faults.inject({ statsu: 500 } as object)).toThrow(
      'a fault has no field statsu: did you mean status?',
    )
    expect(() => server.faults.inject({ verb: 'get' })).toThrow('a fault needs an effect')
    expect(() => server.faults.inject({ status: 418 })).toThrow('status: 418: it must be one of 409, 410')
  })
})

describe('the rest', () => {
  test('a wrong field of an option throws, with the right one named', async () => {
    expect(() => server.users.create({ nmae: 'jane' } as object)).toThrow(
      'a user has no field nmae: did you mean name?',
    )
    expect(() => server.users.create({ groups: 'devs' as unknown as string[] })).toThrow(
      'groups must be a list of names',
    )
    expect(() => server.faults.chaos({ seed: 1, probabilty: 1 } as { seed: number })).toThrow(
      'did you mean probability?',
    )
    const wait = server.waitFor(configMap('none'), 'exists', { timeout: 1 } as object)
    await expect(wait).rejects.toThrow('waitFor has no field timeout: did you mean timeoutMs?')
  })

  test('requests are logged with their user and status', async () => {
    const user = server.users.create({ name: 'jane' })
    server.requests.clear()
    await user.fetch('/api/v1/namespaces/default/configmaps/x')
    expect([...server.requests]).toMatchObject([
      { verb: 'get', resource: 'configmaps', name: 'x', user: 'jane', status: 403 },
    ])
    expect(server.requests.filter({ user: 'other' })).toEqual([])
  })

  test('the clock moves', async () => {
    server.clock.advance('2h')
    const [object] = await server.apply(configMap('later'))
    const created = Date.parse(String(object!.metadata['creationTimestamp']))
    expect(created - Date.now()).toBeGreaterThan(7_190_000)
  })

  test('a wrong option throws', async () => {
    await expect(startBinnacle({ protocol: 'ftp' as 'http' })).rejects.toThrow('it must be "https" or "http"')
    await expect(startBinnacle({ tokns: {} } as object)).rejects.toThrow('did you mean tokens?')
    await expect(startBinnacle({ protcol: 'http' } as object)).rejects.toThrow('did you mean protocol?')
    await expect(startBinnacle({ storge: 'memory' } as object)).rejects.toThrow('did you mean storage?')
  })
})
