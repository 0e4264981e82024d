// Facts about pods that clients of kube-apiserver rely on.
import { describe, expect, test } from 'vitest'
import { objectAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { changed, created, errorsOf, errorsOfChange } from '../../written-objects.suite.js'

const container = { name: 'c', image: 'i' }
const errors = (spec: ValueObject): string[] => errorsOf('v1', 'Pod', { spec: { containers: [container], ...spec } })

describe('volumes', () => {
  const MANAGED = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'

  test.each<[ValueObject, string[]]>([
    [{ flexVolume: { driver: 'd' } }, []],
    [
      { flexVolume: { driver: 'd', options: { 'a.kubernetes.io/b': 'c' } } },
      [
        'flexVolume.options[a.kubernetes.io/b]: Invalid value: "a.kubernetes.io/b": kubernetes.io and k8s.io namespaces are reserved',
      ],
    ],
    [
      { azureDisk: { diskName: 'n', diskURI: 'u', kind: 'Managed' } },
      [`azureDisk.diskURI: Unsupported value: "u": supported values: "${MANAGED}"`],
    ],
    [{ gcePersistentDisk: {} }, ['persistentDisk.pdName: Required value']],
    [{ hostPath: { path: '/a/../b' } }, [`hostPath.path: Invalid value: "/a/../b": must not contain '..'`]],
    [{ nfs: { server: 's', path: 'p' } }, ['nfs.path: Invalid value: "p": must be an absolute path']],
    [
      { configMap: { name: 'm', defaultMode: 0o1000 } },
      ['configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive'],
    ],
    [
      { secret: { secretName: 's', items: [{ key: 'k', path: '..x' }] } },
      [`secret.items[0].path: Invalid value: "..x": must not start with '..'`],
    ],
    [
      { downwardAPI: { items: [{ path: 'p', fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } }] } },
      [
        'downwardAPI.fieldRef.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
      ],
    ],
    [
      { projected: { sources: [{ secret: { name: 's' }, configMap: { name: 'm' } }] } },
      ['projected.sources[0]: Forbidden: may not specify more than 1 volume type per source'],
    ],
    [{ csi: { driver: 'A.example.com' } }, []],
    [{ ephemeral: {} }, ['ephemeral.volumeClaimTemplate: Required value']],
    [{ emptyDir: {}, cephfs: {} }, ['cephFS: Forbidden: may not specify more than 1 volume type']],
  ])('%j', (source, expected) => {
    expect(errors({ volumes: [{ name: 'v', ...source }] })).toEqual(expected.map(error => `spec.volumes[0].${error}`))
  })
})

describe('security contexts', () => {
  const ofContainer = (securityContext: ValueObject, spec: ValueObject = {}): string[] =>
    errors({ containers: [{ ...container, securityContext }], ...spec })

  test('/proc without masks needs users of its own', () => {
    const unmasked = { procMount: 'Unmasked' }
    expect(ofContainer(unmasked)).toEqual([
      'spec.containers[0].securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`',
    ])
    expect(ofContainer(unmasked, { hostUsers: false })).toEqual([])
  })

  test('a message shows the capabilities as Go does', () => {
    const [message] = ofContainer({ allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } })
    expect(message).toContain('"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":null')
  })

  test('a profile has a type', () => {
    expect(ofContainer({ seccompProfile: {} })).toEqual([
      'spec.containers[0].securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set',
    ])
    expect(errors({ securityContext: { appArmorProfile: { type: 'Localhost' } } })).toEqual([
      'spec.securityContext.appArmorProfile.localhostProfile: Required value: must be set when AppArmor type is Localhost',
    ])
  })
})

test.each<[ValueObject, string[]]>([
  [
    { tolerations: [{ key: 'k', operator: 'Gt', value: '1' }] },
    ['tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"'],
  ],
  [{ dnsPolicy: 'None' }, ['dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None']],
  [{ dnsPolicy: 'None', dnsConfig: { nameservers: ['1.1.1.1'], searches: ['_a.b.', '.'] } }, []],
  [
    { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'x' }] },
    [
      'topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
      'topologySpreadConstraints[0].topologyKey: Required value: can not be empty',
      'topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "x": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ],
  ],
  [
    { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: {} } } },
    [
      'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term',
    ],
  ],
  [
    { preemptionPolicy: 'x' },
    ['preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"'],
  ],
  [{ hostUsers: false, hostPID: true }, ['HostPID: Forbidden: when `hostUsers` is false']],
])('a pod with %j', (spec, expected) => {
  expect(errors(spec)).toEqual(expected.map(error => `spec.${error}`))
})

describe('resources of the pod', () => {
  const podOf = (resources: ValueObject, ofContainer: ValueObject = {}): ValueObject =>
    created('v1', 'Pod', { spec: { resources, containers: [{ ...container, resources: ofContainer }] } })
  const qosOf = (pod: ValueObject): unknown => objectAt(pod, 'status')['qosClass']

  test('decide about the quality of service in place of those of the containers', () => {
    const all = { cpu: '1', memory: '1Gi' }
    expect(qosOf(podOf({ limits: all, requests: all }))).toBe('Guaranteed')
    expect(qosOf(podOf({ limits: all, requests: { cpu: '500m', memory: '1Gi' } }))).toBe('Burstable')
    expect(qosOf(podOf({ limits: { cpu: '1' } }))).toBe('Burstable')
    expect(qosOf(podOf({}, { limits: all }))).toBe('BestEffort')
  })

  test('have requests by default: those of the containers, or else the limits', () => {
    const pod = podOf({ limits: { cpu: '2', memory: '1Gi' } }, { requests: { cpu: '500m' } })
    const resources = objectAt(objectAt(pod, 'spec'), 'resources')
    expect(objectAt(resources, 'requests')).toEqual({ cpu: '500m', memory: '1Gi' })
  })

  test('cover those of the containers', () => {
    const ofContainer = { requests: { cpu: '2' } }
    expect(
      errors({ resources: { requests: { cpu: '1' } }, containers: [{ ...container, resources: ofContainer }] }),
    ).toEqual([
      'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2',
    ])
  })
})

test('podIP and podIPs stay in step, whichever is written', () => {
  const pod = created('v1', 'Pod', { spec: { containers: [container] } })
  const statusOf = (status: ValueObject): ValueObject =>
    objectAt(changed('v1', 'Pod', pod, { status }, 'status'), 'status')
  expect(statusOf({ podIP: '1.1.1.1' })).toMatchObject({ podIP: '1.1.1.1', podIPs: [{ ip: '1.1.1.1' }] })
  expect(statusOf({ podIPs: [{ ip: '1.1.1.1' }] })).toMatchObject({ podIP: '1.1.1.1' })
})

describe('an update of a pod', () => {
  const change = (spec: ValueObject, patch: ValueObject): string[] =>
    errorsOfChange('v1', 'Pod', { spec: { containers: [container], ...spec } }, patch)
  const affinity = (...keys: string[]): ValueObject => ({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: keys.map(key => ({ key, operator: 'Exists' })) }],
      },
    },
  })

  test('may narrow the nodes while the pod is gated', () => {
    const gated = { schedulingGates: [{ name: 'g' }], nodeSelector: { a: 'b' }, affinity: affinity('k') }
    expect(change(gated, { spec: { nodeSelector: { c: 'd' }, affinity: affinity('k', 'l') } })).toEqual([])
    expect(change(gated, { spec: { nodeSelector: { a: 'c' } } })).toEqual([
      'spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ])
    const [message] = change(gated, { spec: { affinity: affinity('l') } })
    expect(message).toMatch(/nodeSelectorTerms\[0\]: Invalid value: .*: only additions are allowed/)
  })

  test('may not change annotations that nodes act on', () => {
    const annotations = {
      'kubernetes.io/config.mirror': 'x',
      'container.apparmor.security.beta.kubernetes.io/c': 'unconfined',
    }
    expect(change({ nodeName: 'n' }, { metadata: { annotations } })).toEqual([
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Forbidden: may not add AppArmor annotations',
      'metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation',
    ])
  })
})
