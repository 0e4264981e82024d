// Admission by functions of the program that embeds the server.
import { afterEach, describe, expect, test } from 'vitest'
import { AdmissionDenial, type AdmissionFunction, type Binnacle, startBinnacle } from '../../src/server/index.js'
import { sendRequest } from '../server/request.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const RULES: AdmissionFunction['rules'] = [
  { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
]

let server: Binnacle
afterEach(() => server.stop())

interface ConfigMap {
  metadata?: { name?: string; labels?: Record<string, string> }
  data?: Record<string, string>
}

async function start(...admission: AdmissionFunction[]): Promise<void> {
  server = await startBinnacle({ admission, controllers: [], log: () => {} })
}

const send = (method: string, path: string, body?: unknown) =>
  sendRequest(server, path, { method, token: server.token, ...(body !== undefined && { body }) })
/** Without those for what the server itself creates. */
const calls = () => server.admission.calls.filter(({ request }) => request.name !== 'kube-root-ca.crt')
const create = (name: string, more: object = {}) => send('POST', CONFIGMAPS, { metadata: { name }, ...more })

describe('a mutating function', () => {
  test('returns the object as it should be, or changes it in place', async () => {
    const returning: AdmissionFunction<ConfigMap> = {
      name: 'returning',
      rules: RULES,
      mutate: ({ object }) => ({ ...object, data: { ...object!.data, returned: 'yes' } }),
    }
    const changing: AdmissionFunction<ConfigMap> = {
      name: 'changing',
      rules: RULES,
      async mutate({ object }) {
        await Promise.resolve()
        object!.data!['changed'] = `after ${Object.keys(object!.data!).join()}`
      },
    }
    await start(returning, changing)
    const { status, body } = await create('a')
    expect(status).toBe(201)
    expect(body.data).toEqual({ returned: 'yes', changed: 'after returned' })
    expect((await send('GET', `${CONFIGMAPS}/a`)).body.data).toEqual(body.data)
  })

  test('gets and gives an object that is decoded: defaults are filled in, unknown fields are dropped', async () => {
    await start({
      name: 'containers',
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
      mutate({ object }) {
        const { containers } = object!['spec'] as { containers: object[] }
        containers.push({ name: 'added', image: 'b', unknown: 1, ports: undefined })
      },
    })
    const pod = {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'own', image: 'a' }], serviceAccountName: 'x' },
    }
    await send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'x' } })
    const { body } = await send('POST', '/api/v1/namespaces/default/pods', pod)
    expect(body.spec.containers[1]).toMatchObject({ name: 'added', imagePullPolicy: 'Always' })
    expect(body.spec.containers[1]).not.toHaveProperty('unknown')
  })

  test('that changes nothing leaves the bytes alone', async () => {
    await start({ name: 'none', rules: RULES, mutate: ({ object }) => structuredClone(object!) })
    const { body } = await create('a', { data: { b: '1', a: '2' } })
    const { metadata, ...rest } = body
    expect(JSON.stringify(rest)).toBe('{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"2","b":"1"}}')
    expect(metadata.managedFields).toHaveLength(1)
    expect(calls()[0]).not.toHaveProperty('mutated')
  })
})

describe('a validating function', () => {
  test('may change the managers of its object, and no other object', async () => {
    await start({
      name: 'meddler',
      rules: RULES,
      validate({ object }) {
        const { managedFields } = object!.metadata as { managedFields: { manager: string; fieldsV1: object }[] }
        Object.assign(managedFields[0]!.fieldsV1, { 'f:more': {} })
        managedFields[0]!.manager = 'another'
      },
    })
    const [first, last] = [await create('a', { data: { size: '2' } }), await create('b', { data: { size: '3' } })]
    expect(first.body.metadata.managedFields[0].fieldsV1).not.toHaveProperty('f:more')
    expect(last.body.metadata.managedFields[0].fieldsV1).toEqual(first.body.metadata.managedFields[0].fieldsV1)
    expect(last.body.metadata.managedFields[0].manager).not.toBe('another')
    expect(calls()[0]!.request.object).toMatchObject({ metadata: { managedFields: first.body.metadata.managedFields } })
  })

  test('changes neither what is stored nor the recorded call', async () => {
    await start({
      name: 'meddler',
      rules: RULES,
      validate({ object }) {
        Object.assign(object ?? {}, { data: { size: '9' } })
      },
    })
    const { body } = await create('a', { data: { size: '2' } })
    expect(body).toMatchObject({ data: { size: '2' } })
    expect(calls()[0]!.request.object).toMatchObject({ data: { size: '2' } })
    expect(calls()[0]!.request.object).not.toHaveProperty('metadata.resourceVersion')
  })

  test('refuses by a denial, whose message, reason and code the client gets', async () => {
    await start({
      name: 'even',
      rules: RULES,
      validate({ object }) {
        if (object?.['data']?.size === '3')
          throw new AdmissionDenial('the size is odd', { code: 422, reason: 'Invalid' })
        if (object?.['data']?.size === '5') throw new AdmissionDenial()
      },
    })
    expect((await create('a', { data: { size: '2' } })).status).toBe(201)
    const odd = await create('b', { data: { size: '3' } })
    expect(odd.status).toBe(422)
    expect(odd.body).toMatchObject({
      reason: 'Invalid',
      message: 'admission function "even" denied the request: the size is odd',
    })
    const { status, body } = await create('c', { data: { size: '5' } })
    expect([status, body.message]).toEqual([400, 'admission function "even" denied the request without explanation'])
  })

  test('sees old and new object, user and options, and may warn', async () => {
    await start({ name: 'w', rules: RULES, validate: request => request.warn(`${request.operation} it`) })
    await create('a', { data: { a: '1' } })
    const updated = await send('PUT', `${CONFIGMAPS}/a?dryRun=All`, { metadata: { name: 'a' }, data: { a: '2' } })
    expect(updated.headers.warning).toBe('299 - "UPDATE it"')
    await send('DELETE', `${CONFIGMAPS}/a`)
    const seen = calls().map(({ request }) => [
      request.operation,
      request.object?.['data']?.a,
      request.oldObject?.['data']?.a,
      request.dryRun,
    ])
    expect(seen).toEqual([
      ['CREATE', '1', undefined, false],
      ['UPDATE', '2', '1', true],
      ['DELETE', undefined, '1', false],
    ])
    expect(calls()[0]!.request).toMatchObject({
      userInfo: { username: 'kubernetes-admin' },
      options: { kind: 'CreateOptions' },
      name: 'a',
      namespace: 'default',
    })
  })
})

describe('matching', () => {
  test('is that of webhooks: rules, selectors and conditions', async () => {
    await start({
      name: 'm',
      rules: [{ ...RULES[0]!, operations: ['CREATE'] }],
      objectSelector: { matchLabels: { watched: 'yes' } },
      namespaceSelector: { matchExpressions: [{ key: 'off', operator: 'DoesNotExist' }] },
      matchConditions: [{ name: 'not-me', expression: 'request.name != "spared"' }],
      validate() {},
    })
    const labels = { watched: 'yes' }
    await create('a', { metadata: { name: 'a' } })
    await create('b', { metadata: { name: 'b', labels } })
    await create('spared', { metadata: { name: 'spared', labels } })
    await send('PUT', `${CONFIGMAPS}/b`, { metadata: { name: 'b', labels } })
    expect(calls().map(({ request }) => request.name)).toEqual(['b'])
    server.admission.clear()
    expect(calls()).toEqual([])
  })

  test('Equivalent gives the version that was asked for', async () => {
    await start({
      name: 'e',
      rules: [{ operations: ['CREATE'], apiGroups: ['events.k8s.io'], apiVersions: ['v1'], resources: ['events'] }],
      mutate: ({ object }) => ({ ...object, note: `${object!['note']} seen` }),
    })
    const event = { metadata: { name: 'e' }, involvedObject: { namespace: 'default' }, message: 'core' }
    const { body } = await send('POST', '/api/v1/namespaces/default/events', event)
    expect(body).toMatchObject({ apiVersion: 'v1', message: 'core seen' })
    const [{ request } = {}] = calls()
    expect([request?.kind.group, request?.requestKind.group]).toEqual(['events.k8s.io', ''])
  })
})

describe('a function that fails', () => {
  const failing = (more: Partial<AdmissionFunction>): AdmissionFunction => ({ name: 'f', rules: RULES, ...more })
  const boom = () => {
    throw new Error('boom')
  }
  const circle: Record<string, unknown> = {}
  circle['self'] = circle

  test.each<[string, Partial<AdmissionFunction>, string]>([
    ['throws', { validate: boom }, 'boom'],
    ['rejects', { mutate: async () => boom() }, 'boom'],
    ['takes too long', { validate: () => new Promise(() => {}), timeoutSeconds: 1 }, 'no result within 1s'],
    ['returns a circle', { mutate: () => circle }, 'the object is nested too deeply, or contains itself'],
    ['returns a function', { mutate: ({ object }) => ({ ...object, data: boom }) }, 'function is no value of JSON'],
  ])('because it %s refuses the request, or is left out', async (_, more, why) => {
    await start(failing(more))
    const { status, body } = await create('a')
    expect(status).toBe(500)
    expect(body.message).toBe(`Internal error occurred: failed calling admission function "f": ${why}`)
    expect(calls()).toMatchObject([{ allowed: false, message: why }])
    await server.stop()
    await start(failing({ ...more, failurePolicy: 'Ignore' }))
    expect((await create('a')).status).toBe(201)
    expect(calls()).toMatchObject([{ allowed: true, message: why }])
  })

  test('to give an object of the kind is refused with the reason', async () => {
    await start(failing({ mutate: ({ object }) => ({ ...object, data: [1] }) }))
    const { status, body } = await create('a')
    expect(status).toBe(500)
    expect(body.message).toMatch(/failed calling admission function "f": .*cannot unmarshal array/)
  })
})

test.each<[object, string]>([
  [[{}], 'admission[0]: it must have a name'],
  [[{ name: 'a' }], 'admission: "a": it must have a function mutate or validate'],
  [
    [{ name: 'a', rules: [{ resources: ['pods'] }], validate() {} }],
    'admission: "a": rules[0].operations: Required value',
  ],
  [[{ name: 'a', rules: RULES, rule: [], validate() {} }], 'admission: "a": unknown field "rule"'],
  [
    [{ name: 'a', rules: RULES, matchConditions: [{ name: 'x', expression: '1' }], validate() {} }],
    'admission: "a": matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int',
  ],
])('%j is refused at the start', async (admission, message) => {
  server = { stop: async () => {} } as Binnacle
  await expect(startBinnacle({ admission: admission as AdmissionFunction[] })).rejects.toThrow(message)
})
