import { describe, expect, test } from 'vitest'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { attributesFor, mutated, refusalOf } from '../attributes.suite.js'
import { serviceAccount } from './service-account.js'

const account = (name: string, rest: ValueObject = {}, annotations: ValueObject = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, annotations },
  ...rest,
})
const ACCOUNTS = [
  account('default', { imagePullSecrets: [{ name: 'registry' }] }),
  account('quiet', { automountServiceAccountToken: false }),
  account('strict', { secrets: [{ name: 'mine' }] }, { 'kubernetes.io/enforce-mountable-secrets': 'true' }),
]
const plugin = serviceAccount(
  {
    find: async (_, __, name) => ACCOUNTS.find(({ metadata }) => metadata['name'] === name),
    all: async () => ACCOUNTS,
  },
  { generateName: base => `${base}abcde`, retryMs: 0 },
)

const pod = (spec: ValueObject = {}, annotations: ValueObject = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', annotations },
  spec: { containers: [{ name: 'c' }], ...spec },
})
const admit = async (object: ApiObject): Promise<ValueObject> =>
  (await mutated(plugin, attributesFor('pods', { object })))!['spec'] as ValueObject
const refusal = (object: ApiObject): Promise<string> => refusalOf(plugin, attributesFor('pods', { object }))

const MOUNT = {
  name: 'kube-api-access-abcde',
  readOnly: true,
  mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
}

describe('a new pod', () => {
  test('gets the default account, its pull secrets and a volume with its token', async () => {
    expect(await admit(pod())).toEqual({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      imagePullSecrets: [{ name: 'registry' }],
      containers: [{ name: 'c', volumeMounts: [MOUNT] }],
      volumes: [
        {
          name: 'kube-api-access-abcde',
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
              {
                downwardAPI: {
                  items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
                },
              },
            ],
          },
        },
      ],
    })
  })

  test('keeps its pull secrets, and mounts of its own at the path of the token', async () => {
    const containers = [{ name: 'c', volumeMounts: [{ name: 'own', mountPath: MOUNT.mountPath }] }]
    const spec = await admit(pod({ containers, imagePullSecrets: [{ name: 'own' }] }))
    expect(spec).toMatchObject({ containers, imagePullSecrets: [{ name: 'own' }] })
    expect(spec['volumes']).toBeUndefined()
  })

  test('gets no token if the account or the pod does not want one; the pod decides', async () => {
    expect((await admit(pod({ serviceAccountName: 'quiet' })))['volumes']).toBeUndefined()
    expect((await admit(pod({ automountServiceAccountToken: false })))['volumes']).toBeUndefined()
    const wanted = { serviceAccountName: 'quiet', automountServiceAccountToken: true }
    expect((await admit(pod(wanted)))['volumes']).toHaveLength(1)
  })

  test('needs an account that exists', async () => {
    expect(await refusal(pod({ serviceAccountName: 'absent' }))).toBe(
      'pods "p" is forbidden: error looking up service account x/absent: serviceaccount "absent" not found',
    )
  })
})

test.each<[string, ValueObject, string]>([
  ['its own secret', { volumes: [{ secret: { secretName: 'mine' } }] }, ''],
  [
    'a volume',
    { volumes: [{ secret: { secretName: 'other' } }] },
    'volume with secret.secretName="other" is not allowed because service account strict does not reference that secret',
  ],
  [
    'a variable',
    { containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'other' } } }] }] },
    'container c with envVar E referencing secret.secretName="other" is not allowed because service account strict does not reference that secret',
  ],
  [
    'envFrom of an init container',
    { initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'other' } }] }] },
    'init container i with envFrom referencing secret.secretName="other" is not allowed because service account strict does not reference that secret',
  ],
  [
    'a pull secret',
    { imagePullSecrets: [{ name: 'other' }] },
    'imagePullSecrets[0].name="other" is not allowed because service account strict does not reference that imagePullSecret',
  ],
])('an account that limits secrets: %s', async (_, spec, why) => {
  const refused = await refusal(pod({ serviceAccountName: 'strict', ...spec }))
  expect(refused).toBe(why === '' ? '' : `pods "p" is forbidden: ${why}`)
})

test.each<[ValueObject, string]>([
  [{}, ''],
  [{ serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
  [{ volumes: [{ secret: { secretName: 's' } }] }, 'a mirror pod may not reference secrets'],
  [
    { volumes: [{ projected: { sources: [{ serviceAccountToken: {} }] } }] },
    'a mirror pod may not use ServiceAccountToken volume projections',
  ],
])('a mirror pod with %j', async (spec, why) => {
  const refused = await refusal(pod(spec, { 'kubernetes.io/config.mirror': 'x' }))
  expect(refused).toBe(why === '' ? '' : `pods "p" is forbidden: ${why}`)
})

test('updates are not checked, apart from ephemeral containers', async () => {
  const ephemeralContainers = [{ name: 'e', envFrom: [{ secretRef: { name: 'other' } }] }]
  const object = pod({ serviceAccountName: 'strict', ephemeralContainers })
  const refusalAt = (resource: string) =>
    refusalOf(plugin, attributesFor(resource, { object, oldObject: pod(), name: 'p' }))
  expect(await refusalAt('pods')).toBe('')
  expect(await refusalAt('pods/ephemeralcontainers')).toMatch('ephemeral container e with envFrom referencing')
})
