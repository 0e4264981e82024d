import { describe, expect, test } from 'vitest'
import { builtinKinds } from '../../../builtin/builtin-kinds.js'
import type { Kind } from '../../../kinds/kind.js'
import { type ApiObject } from '../../../meta/object/api-object.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { builtinTypes } from '../../../types/type-table.js'
import { type Attributes, createAttributes } from '../../attributes.js'
import { attributesFor } from '../../attributes.suite.js'
import { evaluatorFor } from './evaluators.js'
import type { LimitedResource } from './limited-resources.js'
import { type ResourceQuotaEnv, resourceQuota } from './plugin.js'

const KINDS = builtinKinds(builtinTypes())
const kindOf = (name: string): Kind => KINDS.find(({ names }) => names.kind === name)!

const objectOf = (kind: string, spec: ValueObject = {}, rest: ValueObject = {}): ApiObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'a', namespace: 'x' },
  spec,
  ...rest,
})

const quota = (name: string, hard: ValueObject, used: ValueObject, spec: ValueObject = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name, namespace: 'x', resourceVersion: '1' },
  spec,
  status: { hard, used },
})

interface Written {
  readonly operation?: 'CREATE' | 'UPDATE'
  readonly oldObject?: ApiObject
  readonly subresource?: string
  readonly dryRun?: boolean
}

const attributesOf = (object: ApiObject, written: Written = {}): Attributes => {
  const { oldObject, subresource = '', dryRun = false, operation = oldObject ? 'UPDATE' : 'CREATE' } = written
  const kind = kindOf(object.kind)
  return createAttributes({
    request: attributesFor('pods', { object, dryRun }).request,
    operation,
    target: { kind, version: kind.versions[0]!, namespace: 'x', name: '', subresource },
    object,
    oldObject,
  })
}

/** Runs the plugin over stored quotas; returns the refusals, and the usage afterwards. */
const charge = (quotas: ApiObject[], ...requests: Attributes[]) => chargeLimited([], quotas, ...requests)

async function chargeLimited(limited: readonly LimitedResource[], quotas: ApiObject[], ...requests: Attributes[]) {
  const stored = new Map(quotas.map(each => [each.metadata['name'] as string, each]))
  const env: ResourceQuotaEnv = {
    objects: { find: async () => undefined, all: async () => [...stored.values()] },
    hasQuotas: () => true,
    now: () => 0,
    async changeQuotaStatus(_, name, change) {
      const changed = change(stored.get(name)!)
      const next = Number(stored.get(name)!.metadata['resourceVersion']) + 1
      if (changed) stored.set(name, { ...changed, metadata: { ...changed.metadata, resourceVersion: String(next) } })
    },
  }
  const plugin = resourceQuota(env, limited)
  const results = await Promise.allSettled(requests.map(async attributes => plugin.validate!(attributes)))
  return {
    refusals: results.map(result => (result.status === 'rejected' ? (result.reason as Error).message : '')),
    used: [...stored.values()].map(each => (each['status'] as ValueObject)['used']),
  }
}

describe('a quota of objects', () => {
  const full = quota('q', { configmaps: '1' }, { configmaps: '1' })

  test('refuses the object that exceeds it', async () => {
    const { refusals } = await charge([full], attributesOf(objectOf('ConfigMap')))
    expect(refusals).toEqual([
      'configmaps "a" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1',
    ])
  })

  test('counts objects at once, also those that come at the same time', async () => {
    const half = quota('q', { 'count/configmaps': '2' }, { 'count/configmaps': '0' })
    const create = () => attributesOf(objectOf('ConfigMap'))
    const { refusals, used } = await charge([half], create(), create(), create())
    expect(refusals.filter(Boolean)).toHaveLength(1)
    expect(used).toEqual([{ 'count/configmaps': '2' }])
  })

  test('does not count a dry run, an update, or an object of another resource', async () => {
    const empty = quota('q', { configmaps: '1' }, { configmaps: '0' })
    const { used } = await charge(
      [empty],
      attributesOf(objectOf('ConfigMap'), { dryRun: true }),
      attributesOf(objectOf('ConfigMap'), { oldObject: objectOf('ConfigMap') }),
      attributesOf(objectOf('Secret')),
    )
    expect(used).toEqual([{ configmaps: '0' }])
  })

  test('refuses everything it tracks until its usage is known', async () => {
    const { refusals } = await charge([quota('q', { configmaps: '1' }, {})], attributesOf(objectOf('ConfigMap')))
    expect(refusals).toEqual(['configmaps "a" is forbidden: status unknown for quota: q, resources: configmaps'])
  })
})

describe('a quota of pods', () => {
  const pod = (resources: ValueObject, spec: ValueObject = {}): ApiObject =>
    objectOf('Pod', { containers: [{ name: 'c', resources }], ...spec }, { status: { qosClass: 'Burstable' } })

  test('adds requests and limits to its usage', async () => {
    const limits = quota(
      'q',
      { pods: '5', cpu: '2', 'limits.memory': '1Gi' },
      { pods: '1', cpu: '500m', 'limits.memory': '0' },
    )
    const request = attributesOf(pod({ requests: { cpu: '250m' }, limits: { memory: '64Mi' } }))
    const { refusals, used } = await charge([limits], request)
    expect(refusals).toEqual([''])
    expect(used).toEqual([{ pods: '2', cpu: '750m', 'limits.memory': '64Mi' }])
  })

  test('needs the resources of every container that it tracks', async () => {
    const limits = quota('q', { cpu: '2', 'limits.memory': '1Gi' }, { cpu: '0', 'limits.memory': '0' })
    const containers = [{ name: 'b' }, { name: 'a' }]
    const { refusals } = await charge([limits], attributesOf(objectOf('Pod', { containers })))
    expect(refusals).toEqual([
      'pods "a" is forbidden: failed quota: q: must specify cpu for: a,b; limits.memory for: a,b',
    ])
  })

  test.each<[string, ValueObject, number]>([
    ['Terminating', { activeDeadlineSeconds: 1 }, 1],
    ['Terminating', {}, 0],
    ['NotTerminating', {}, 1],
    ['NotBestEffort', {}, 1],
    ['BestEffort', {}, 0],
    ['PriorityClass', { priorityClassName: 'high' }, 1],
    ['PriorityClass', {}, 0],
    ['CrossNamespacePodAffinity', {}, 0],
  ])('with the scope %s and a pod with %j counts %i', async (scope, spec, count) => {
    const scoped = quota('q', { pods: '5' }, { pods: '0' }, { scopes: [scope] })
    const { used } = await charge([scoped], attributesOf(pod({}, spec)))
    expect(used).toEqual([{ pods: String(count) }])
  })

  test('selects priority classes by name', async () => {
    const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] }
    const scoped = quota('q', { pods: '5' }, { pods: '0' }, { scopeSelector })
    const create = (priorityClassName: string) => attributesOf(pod({}, { priorityClassName }))
    const { used } = await charge([scoped], create('high'), create('low'))
    expect(used).toEqual([{ pods: '1' }])
  })

  test('counts only the number of pods that have ended', () => {
    const ended = { ...pod({ requests: { cpu: '1' } }), status: { phase: 'Succeeded' } }
    const { usage } = evaluatorFor({ group: '', resource: 'pods' })
    expect([...usage(ended, 0).keys()]).toEqual(['count/pods'])
    const stuck = pod({ requests: { cpu: '1' } })
    const metadata = { deletionTimestamp: '1970-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }
    expect([...usage({ ...stuck, metadata }, 29_000).keys()]).toContain('cpu')
    expect([...usage({ ...stuck, metadata }, 31_000).keys()]).toEqual(['count/pods'])
  })
})

test('a quota of services counts ports and load balancers, and changes of the type', async () => {
  const limits = quota('q', { 'services.nodeports': '2', services: '5' }, { 'services.nodeports': '1', services: '1' })
  const service = (type: string): ApiObject => objectOf('Service', { type, ports: [{ port: 1 }, { port: 2 }] })
  const { refusals, used } = await charge(
    [limits],
    attributesOf(service('ClusterIP')),
    attributesOf(service('NodePort'), { oldObject: service('ClusterIP') }),
  )
  expect(refusals).toEqual([
    '',
    'services "a" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=1, limited: services.nodeports=2',
  ])
  expect(used).toEqual([{ 'services.nodeports': '1', services: '2' }])
})

test('a quota of claims counts storage in total and by class, and an update by its difference', async () => {
  const byClass = 'gold.storageclass.storage.k8s.io/requests.storage'
  const limits = quota(
    'q',
    { 'requests.storage': '5Gi', [byClass]: '3Gi' },
    { 'requests.storage': '0', [byClass]: '0' },
  )
  const claim = (storage: string): ApiObject =>
    objectOf('PersistentVolumeClaim', { storageClassName: 'gold', resources: { requests: { storage } } })
  const { refusals, used } = await charge(
    [limits],
    attributesOf(claim('1Gi')),
    attributesOf(claim('2Gi'), { oldObject: claim('1Gi') }),
    attributesOf(claim('2Gi')),
  )
  expect(refusals[2]).toMatch(
    `exceeded quota: q, requested: ${byClass}=2Gi, used: ${byClass}=2Gi, limited: ${byClass}=3Gi`,
  )
  expect(used).toEqual([{ 'requests.storage': '2Gi', [byClass]: '2Gi' }])
})

test('what is limited by the configuration needs a quota that covers it', async () => {
  const pods = { group: '', resource: 'pods', matchContains: ['requests.'], matchScopes: [] }
  const inClass = { scopeName: 'PriorityClass', operator: 'In', values: ['high'] }
  const limited: LimitedResource[] = [pods, { ...pods, matchContains: [], matchScopes: [inClass] }]
  const create = (spec: ValueObject) => attributesOf(objectOf('Pod', spec))
  const cpu = { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] }
  const high = { containers: [{ name: 'c' }], priorityClassName: 'high' }
  const without = await chargeLimited(limited, [], create(cpu), create(high), create({ containers: [] }))
  expect(without.refusals).toEqual([
    'pods "a" is forbidden: insufficient quota to consume: requests.cpu',
    'insufficient quota to match these scopes: [{PriorityClass In [high]}]',
    '',
  ])
  const quotas = [
    quota('cpu', { 'requests.cpu': '2' }, { 'requests.cpu': '0' }),
    quota('high', { pods: '1' }, { pods: '0' }, { scopeSelector: { matchExpressions: [inClass] } }),
  ]
  const covered = await chargeLimited(
    limited,
    quotas,
    create(cpu),
    create({ ...cpu, ...high, containers: cpu.containers }),
  )
  expect(covered.refusals).toEqual(['', ''])
})
