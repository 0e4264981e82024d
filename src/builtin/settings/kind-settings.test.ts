import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import { allFeatureGates, checkFeatureGates } from '../../meta/feature-gates.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { builtinTypes } from '../../types/type-table.js'
import { builtinKindsWith } from '../builtin-kinds.js'
import { OF_KINDS, OF_POD_SPECS, POD_SPEC_AT } from './gated-fields.js'
import { fieldGates, type KindSettings } from './kind-settings.js'

const strategyOf = (name: string, settings: KindSettings) =>
  builtinKindsWith(builtinTypes(), settings).find(({ names }) => names.kind === name)!.versions[0]!.strategy

const pod = (spec: ValueObject): ApiObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec })
const CONTAINER = { name: 'c', image: 'i' }

test('a field is dropped while its gate is off, and kept while it is on', () => {
  const spec = { containers: [{ ...CONTAINER, lifecycle: { stopSignal: 'SIGTERM' } }] }
  const created = (on: boolean): ApiObject =>
    strategyOf('Pod', { featureGates: { ContainerStopSignals: on } }).prepareForCreate(pod(structuredClone(spec)), 0)
  expect(created(false)).toMatchObject({ spec: { containers: [CONTAINER] } })
  expect(JSON.stringify(created(false))).not.toContain('lifecycle')
  expect(created(true)).toMatchObject({ spec })
})

test('a field that the old object has stays, whatever the gate', () => {
  const strategy = strategyOf('Pod', { featureGates: { HostnameOverride: false } })
  const named = (hostnameOverride?: string): ApiObject =>
    pod({ containers: [CONTAINER], ...(hostnameOverride && { hostnameOverride }) })
  expect(strategy.prepareForUpdate(named('a'), named('b'), 0)).toMatchObject({ spec: { hostnameOverride: 'a' } })
  expect(JSON.stringify(strategy.prepareForUpdate(named('a'), named(), 0))).not.toContain('hostnameOverride')
})

test.each([
  ['Lease', { strategy: 'x', preferredHolder: 'y', holderIdentity: 'z' }, { holderIdentity: 'z' }],
  ['CSIDriver', { preventPodSchedulingIfMissing: true, attachRequired: true }, { attachRequired: true }],
])('features that are off by default: %s', (kind, spec, kept) => {
  const object = { apiVersion: 'v1', kind, metadata: { name: 'x' }, spec }
  expect(strategyOf(kind, {}).prepareForCreate(object, 0)).toMatchObject({ spec: kept })
  expect(Object.keys(object.spec)).toEqual(Object.keys(kept))
})

test('members of maps are reached', () => {
  const slice = {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: 's' },
    spec: { devices: [{ name: 'd', attributes: { a: { strings: ['x'] }, b: { int: 1 } } }] },
  }
  const created = strategyOf('ResourceSlice', {}).prepareForCreate(structuredClone(slice), 0)
  expect(created).toMatchObject({ spec: { devices: [{ attributes: { a: {}, b: { int: 1 } } }] } })
  expect(JSON.stringify(created)).not.toContain('strings')
})

test('a privileged container is refused where the flag says so', () => {
  const spec = { containers: [CONTAINER], initContainers: [{ ...CONTAINER, securityContext: { privileged: true } }] }
  const errorsOf = (allowPrivileged: boolean): string[] =>
    strategyOf('Pod', { allowPrivileged })
      .validate(pod(spec), [])
      .map(printFieldError)
      .filter(text => text.includes('privileged'))
  expect(errorsOf(true)).toEqual([])
  expect(errorsOf(false)).toEqual([
    'spec.initContainers[0].securityContext.privileged: Forbidden: disallowed by cluster policy',
  ])
})

test('the table names gates, kinds and fields that are there', () => {
  const gates = new Set(allFeatureGates({}).map(({ name }) => name))
  expect([...fieldGates()].filter(name => !gates.has(name))).toEqual([])
  // A gate that is locked in every release cannot drop anything.
  const oldest = { emulation: 33, minCompatibility: 33 }
  for (const name of fieldGates()) expect(() => checkFeatureGates({ [name]: false }, oldest)).not.toThrow('locked')
  const types = builtinTypes()
  const kinds = [...types.kinds()].map(([id]) => id)
  const unknown: string[] = []
  const check = (id: string, path: string): void => {
    const [group, kind] = id.split(' ')
    const versions = kinds.filter(
      each => each.endsWith(` ${kind}`) && each.startsWith(group === '' ? 'v1 ' : `${group}/`),
    )
    const isIn = (named: string): boolean => {
      let type = types.byName(types.kinds().get(named)!)
      for (const part of path.replace('*', 'containers').split('.')) {
        const field = type.fields.get(part.replace(/[[\]{}?]/g, ''))
        if (field === undefined) return false
        type = /[[{]/.test(part) ? field.type.element! : field.type
      }
      return true
    }
    if (!versions.some(isIn)) unknown.push(`${id} ${path}`)
  }
  for (const [id, all] of Object.entries(OF_KINDS)) {
    for (const path of all.flatMap(fields => Object.values(fields).flat())) check(id, path)
  }
  for (const [id, at] of Object.entries(POD_SPEC_AT)) {
    for (const path of Object.values(OF_POD_SPECS).flat()) check(id, `${at}.${path}`)
  }
  expect(unknown).toEqual([])
})

const refusals = (kind: string, object: ValueObject, featureGates: Record<string, boolean>): string[] =>
  strategyOf(kind, { featureGates })
    .validate({ apiVersion: 'v1', kind, metadata: { name: 'x', namespace: 'd' }, ...object }, [])
    .map(printFieldError)

test('StrictIPCIDRValidation: addresses and ranges in other forms', () => {
  const aliases = (ip: string) => ({
    spec: { containers: [], hostAliases: [{ ip, hostnames: ['h'] }] },
  })
  const about = (ip: string, on: boolean) =>
    refusals('Pod', aliases(ip), { StrictIPCIDRValidation: on }).filter(text => text.includes('hostAliases'))
  expect(about('010.0.0.1', true)).toEqual([
    'spec.hostAliases[0].ip: Invalid value: "010.0.0.1": must not have leading 0s',
  ])
  expect(about('010.0.0.1', false)).toEqual([])
  expect(about('x', false)).toHaveLength(1)
  const policy = { spec: { podSelector: {}, egress: [{ to: [{ ipBlock: { cidr: '10.0.0.1/8' } }] }] } }
  expect(refusals('NetworkPolicy', policy, { StrictIPCIDRValidation: true })).toHaveLength(1)
  expect(refusals('NetworkPolicy', policy, { StrictIPCIDRValidation: false })).toEqual([])
  // Newer kinds take the canonical form only, whatever the gate.
  const address = { metadata: { name: '010.0.0.1' }, spec: { parentRef: { resource: 's', name: 'x' } } }
  expect(refusals('IPAddress', address, { StrictIPCIDRValidation: false })).toHaveLength(1)
})

test('RelaxedServiceNameValidation: names that begin with a digit', () => {
  const service = { metadata: { name: '1a', namespace: 'd' } }
  const named = (on: boolean) =>
    refusals('Service', service, { RelaxedServiceNameValidation: on }).filter(text => text.startsWith('metadata.name'))
  expect(named(true)).toEqual([])
  expect(named(false)).toEqual([expect.stringContaining('a DNS-1035 label must')])

  const ingress = (name: string) => ({ spec: { defaultBackend: { service: { name, port: { number: 80 } } } } })
  expect(refusals('Ingress', ingress('1a'), { RelaxedServiceNameValidation: true })).toEqual([])
  expect(refusals('Ingress', ingress('1a'), { RelaxedServiceNameValidation: false })).toHaveLength(1)
  const meta = { name: 'x', namespace: 'd', resourceVersion: '1' }
  const stored = (name: string) =>
    ({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: meta, ...ingress(name) }) as ApiObject
  const { validateUpdate } = strategyOf('Ingress', { featureGates: { RelaxedServiceNameValidation: false } })
  expect(validateUpdate(stored('2a'), stored('1a'), [], 0)).toEqual([])
  expect(validateUpdate(stored('2a'), stored('a'), [], 0)).toHaveLength(1)
})

test('HPAScaleToZero: no replicas', () => {
  const least = (minReplicas: number, on: boolean) =>
    refusals('HorizontalPodAutoscaler', { spec: { minReplicas, maxReplicas: 2 } }, { HPAScaleToZero: on }).filter(
      text => text.startsWith('spec.minReplicas'),
    )
  expect(least(0, true)).toEqual([])
  expect(least(0, false)).toEqual(['spec.minReplicas: Invalid value: 0: must be greater than or equal to 1'])
  expect(least(-1, true)).toEqual(['spec.minReplicas: Invalid value: -1: must be greater than or equal to 0'])
})

test('the gates of suspended jobs: what may change in the template once the job has started', () => {
  const job = (spec: ValueObject, labels: ValueObject = {}): ApiObject => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'x', namespace: 'd', uid: 'u', resourceVersion: '1' },
    spec: {
      suspend: true,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
      template: { metadata: { labels: { 'batch.kubernetes.io/controller-uid': 'u', ...labels } }, spec },
    },
    status: { startTime: '2020-01-01T00:00:00Z', conditions: [{ type: 'Suspended', status: 'True' }] },
  })
  const pods = (resources: ValueObject, rest: ValueObject = {}): ValueObject => ({
    restartPolicy: 'Never',
    containers: [{ name: 'c', image: 'i', resources }],
    ...rest,
  })
  const isRefused = (scheduling: boolean, resources: boolean, changed: ApiObject): boolean => {
    const featureGates = {
      MutableSchedulingDirectivesForSuspendedJobs: scheduling,
      MutablePodResourcesForSuspendedJobs: resources,
    }
    const errors = strategyOf('Job', { featureGates }).validateUpdate(changed, job(pods({})), [], 0)
    return errors.map(printFieldError).some(text => text.startsWith('spec.template') && text.includes('immutable'))
  }
  const changes = [
    job(pods({ limits: { cpu: '1' } })),
    job(pods({}, { nodeSelector: { a: 'b' } })),
    job(pods({}), { a: 'b' }),
  ]
  const refused = (scheduling: boolean, resources: boolean): boolean[] =>
    changes.map(changed => isRefused(scheduling, resources, changed))
  expect(refused(true, true)).toEqual([false, false, false])
  expect(refused(true, false)).toEqual([true, false, false])
  expect(refused(false, true)).toEqual([false, true, false])
  expect(refused(false, false)).toEqual([true, true, true])
})

describe('gates that change what is refused', () => {
  const podOf = (meta: ValueObject, spec: ValueObject): ValueObject => ({
    metadata: { name: 'x', namespace: 'd', ...meta },
    spec: { restartPolicy: 'Always', containers: [], ...spec },
  })
  const about = (word: string, object: ValueObject, gate: string, on: boolean): string[] =>
    refusals('Pod', object, { [gate]: on }).filter(text => text.includes(word))

  test('PodDeletionCost: the cost of a deletion', () => {
    const costs = (cost: string) => podOf({ annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }, {})
    for (const cost of ['x', '+1', '08', '', '3000000000']) {
      expect(about('32bit', costs(cost), 'PodDeletionCost', true)).toHaveLength(1)
      expect(about('32bit', costs(cost), 'PodDeletionCost', false)).toEqual([])
    }
    expect(about('32bit', costs('-5'), 'PodDeletionCost', true)).toEqual([])
  })

  test('SELinuxMount: the policy MountOption', () => {
    const policy = (seLinuxChangePolicy: string) => podOf({}, { securityContext: { seLinuxChangePolicy } })
    expect(about('MountOption', policy('MountOption'), 'SELinuxMount', false)).toHaveLength(1)
    expect(about('MountOption', policy('MountOption'), 'SELinuxMount', true)).toEqual([])
    expect(about('Other', policy('Other'), 'SELinuxMount', true)).toHaveLength(1)
  })

  test('RestartAllContainersOnContainerExits: rules that restart all containers', () => {
    const rule = { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }
    const container = { name: 'c', image: 'i', restartPolicy: 'Never', restartPolicyRules: [rule] }
    const object = podOf({}, { containers: [container], initContainers: [{ ...container, restartPolicy: 'Always' }] })
    const gate = 'RestartAllContainersOnContainerExits'
    expect(about('restartPolicyRules', object, gate, true)).toEqual([])
    expect(about('restartPolicyRules', object, gate, false)).toEqual([
      'spec.initContainers[0].restartPolicyRules: Forbidden: restartPolicyRules are not allowed for init containers with restart policy Always',
      'spec.containers[0].restartPolicyRules[0].action: Unsupported value: "RestartAllContainers": supported values: "Restart"',
    ])
  })

  test('MatchLabelKeysInPodTopologySpreadSelectorMerge: keys of labels in topology spread', () => {
    const gate = 'MatchLabelKeysInPodTopologySpreadSelectorMerge'
    const spread = (...matchExpressions: ValueObject[]) => ({
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'zone',
          whenUnsatisfiable: 'DoNotSchedule',
          matchLabelKeys: ['app'],
          labelSelector: { matchExpressions },
        },
      ],
    })
    const added = { key: 'app', operator: 'In', values: ['a'] }
    const created = (on: boolean) => {
      const object = podOf({ labels: { app: 'a' } }, spread())
      strategyOf('Pod', { featureGates: { [gate]: on } }).prepareForCreate(object as ApiObject, 0)
      return object['spec']
    }
    expect(created(true)).toMatchObject(spread(added))
    expect(created(false)).toMatchObject(spread())

    const refused = [
      'spec.topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: "app": exists in both matchLabelKeys and labelSelector',
    ]
    expect(about('exists in both', podOf({}, spread(added)), gate, true)).toEqual([])
    expect(about('exists in both', podOf({}, spread(added)), gate, false)).toEqual(refused)
    expect(about('exists in both', podOf({}, spread(added, added)), gate, false)).toEqual(refused)
    // What was stored while the gate was on stays valid.
    const stored = podOf({}, spread(added)) as ApiObject
    const errors = strategyOf('Pod', { featureGates: { [gate]: false } }).validateUpdate(stored, stored, [], 0)
    expect(errors.map(printFieldError).filter(text => text.includes('exists in both'))).toEqual([])
  })
})
