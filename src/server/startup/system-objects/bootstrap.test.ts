import { expect, test } from 'vitest'
import { bootstrapPolicy } from '../../../auth/bootstrap-roles.js'
import { encodeJson } from '../../../codec/json.js'
import type { Kind } from '../../../kinds/kind.js'
import { decodeStored } from '../../../objects/stored-object.js'
import { RuleCompiler } from '../../../schema/rules.js'
import { createMemoryStore } from '../../../storage/memory-store.js'
import type { Entry } from '../../../storage/store.js'
import { createApiContext } from '../../../verbs/api-context.js'
import { serverObjects } from '../../../verbs/system-writes.js'
import { DEFAULT_VERSIONS } from '../../options/versions.js'
import { createBuiltinRegistry, requireKind } from '../kinds.js'
import { bootstrap, bootstrapServiceCidr } from './bootstrap.js'
import { type FindPrepared, findPrepared } from './prepared-objects.js'

const DEFAULTS = { versions: DEFAULT_VERSIONS, runtimeConfig: {}, featureGates: {}, allowPrivileged: true }
const OPTIONS = { serviceRange: '10.0.0.0/24', port: 6443 }
const OF_OPTIONS = new Set(['Service', 'IPAddress'])
/** Everything through the pipeline. */
const BY_PIPELINE: FindPrepared = () => undefined

function emptyServer(now = 0, uid = '', api = {}) {
  const store = createMemoryStore()
  const { registry } = createBuiltinRegistry({ ...DEFAULTS, ...api } as never, new RuleCompiler())
  const context = createApiContext({ store, now: () => now, ids: { uid: () => uid, nameSuffix: () => '' } })
  return {
    context,
    registry,
    async entries(): Promise<readonly Entry[]> {
      return (await store.range('/')).entries
    },
  }
}

/** What the server creates of objects that do not depend on its options, by the key of each. */
async function created(server: ReturnType<typeof emptyServer>, find: FindPrepared): Promise<[string, string][]> {
  await bootstrapServiceCidr(
    server.context,
    requireKind(server.registry, 'networking.k8s.io', 'ServiceCIDR'),
    OPTIONS,
    find,
  )
  await bootstrap(server.context, server.registry, OPTIONS, find)
  return (await server.entries())
    .filter(entry => !OF_OPTIONS.has(decodeStored(entry).kind))
    .map(({ key, value }) => [key, value.toString()])
}

test('the objects of data/bootstrap-objects.json are those that the pipeline makes', async () => {
  const objects = await created(emptyServer(), BY_PIPELINE)
  expect(objects.length).toBeGreaterThan(90)
  const lines = objects.map(([, text]) => text)
  await expect(`[\n${lines.join(',\n')}\n]\n`).toMatchFileSnapshot('../../../../data/bootstrap-objects.json')
})

test.each([{}, { featureGates: { AllAlpha: true, AllBeta: true } }])(
  'stored at once, they are byte by byte those that the pipeline stores, with %j',
  async api => {
    const server = () => emptyServer(1_700_000_000_000, '0b6b4a1e-1f0e-4b3e-9d7e-000000000001', api)
    expect(await created(server(), findPrepared)).toEqual(await created(server(), BY_PIPELINE))
  },
)

test('a kind in another storage version is written by the pipeline', () => {
  const kind = requireKind(emptyServer().registry, '', 'Namespace')
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
  expect(findPrepared(kind, object)?.metadata.name).toBe('default')
  expect(findPrepared({ ...kind, storedAs: 'v2' }, object)).toBeUndefined()
})

test('roles are prepared, unless a gate changes their rules', () => {
  const unprepared = (gates: Record<string, boolean>): unknown[] =>
    bootstrapPolicy(gates)
      .filter(object => !findPrepared({ storedAs: object.apiVersion } as Kind, object))
      .map(({ metadata }) => metadata['name'])
  expect(unprepared({})).toEqual([])
  expect(unprepared({ KubeletServiceAccountTokenForCredentialProviders: false })).toEqual(['system:node'])
})

test('a binding that is split off from an older one gets the subjects of that one', async () => {
  const { context, registry } = emptyServer()
  const bindings = requireKind(registry, 'rbac.authorization.k8s.io', 'ClusterRoleBinding')
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'readers' }]
  await serverObjects(context).create(bindings, {
    metadata: { name: 'system:discovery' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:discovery' },
    subjects,
  })
  await bootstrap(context, registry, OPTIONS)
  const entry = await context.objectStore(bindings).get('', 'system:public-info-viewer')
  expect(encodeJson(decodeStored(entry!)['subjects'] ?? null)).toContain('readers')
})
