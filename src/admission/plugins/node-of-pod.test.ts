import { expect, test } from 'vitest'
import { StatusError } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'
import { attributesFor, refusalOf } from '../attributes.suite.js'
import { nodeDeclaredFeatureValidator } from './node-declared-feature-validator.js'
import { podResizeValidator } from './pod-resize-validator.js'

const nodes: readonly ApiObject[] = [
  nodeOf('linux', { declaredFeatures: ['InPlacePodLevelResourcesVerticalScaling'] }, { 'kubernetes.io/os': 'linux' }),
  nodeOf('windows', {}, { 'kubernetes.io/os': 'windows' }),
  nodeOf('plain', {}),
]

function nodeOf(name: string, status: ValueObject, labels: ValueObject = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    status: { allocatable: { cpu: '2', memory: '2Gi' }, ...status },
  }
}

const lister: Lister = {
  find: async (_, __, name) => nodes.find(node => node.metadata['name'] === name),
  all: async () => nodes,
}

const podOf = (spec: ValueObject): ApiObject => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec })
const resources = (cpu: string): ValueObject => ({ requests: { cpu, memory: '1Gi' } })
const spec = (nodeName: string, cpu: string, rest: ValueObject = {}): ValueObject => ({
  nodeName,
  containers: [{ name: 'c', resources: resources(cpu) }],
  ...rest,
})

const change = (now: ValueObject, before: ValueObject): ReturnType<typeof attributesFor> =>
  attributesFor('pods/resize', { object: podOf(now), oldObject: podOf(before), name: 'a' })

test.each<[string, string, ValueObject, ValueObject, string]>([
  ['what fits', '', spec('linux', '2'), spec('linux', '1'), ''],
  [
    'what does not fit',
    'NodeCapacity',
    spec('linux', '2500m', { overhead: { memory: '1025Mi' } }),
    spec('linux', '1'),
    "node didn't have enough allocatable resources: cpu, requested: 2500, allocatable: 2000; memory, requested: 2148532224, allocatable: 2147483648",
  ],
  [
    'the resources of the pod itself, which count in the place of those of its containers',
    'NodeCapacity',
    spec('plain', '1', { resources: resources('3') }),
    spec('plain', '1'),
    "node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000",
  ],
  [
    'another system',
    'UnsupportedPlatform',
    spec('windows', '1'),
    spec('windows', '2'),
    'pod resize is only supported on linux nodes, node "windows" is "windows"',
  ],
  ['a node that does not exist', '', spec('gone', '1'), spec('gone', '2'), 'node "gone" not found'],
  ['a spec that stays', '', spec('gone', '1'), spec('gone', '1'), ''],
  ['a pod without a node', '', spec('', '8'), spec('', '1'), ''],
])('PodResizeValidator sees %s', async (_, reason, now, before, why) => {
  const error = await Promise.resolve(podResizeValidator(lister).validate!(change(now, before))).catch(caught => caught)
  const { message = '', details = {} } = error instanceof StatusError ? error.status : {}
  expect(message).toBe(why === '' ? '' : `pods "a" is forbidden: ${why}`)
  expect(details.causes ?? []).toEqual(reason === '' ? [] : [{ reason }])
})

const init = (cpu: string, rest: ValueObject = {}): ValueObject => ({
  initContainers: [{ name: 'i', resources: resources(cpu), ...rest }],
})

test.each<[string, ValueObject, ValueObject, string]>([
  [
    'resources of the pod',
    spec('plain', '1', { resources: resources('1') }),
    spec('plain', '1'),
    'InPlacePodLevelResourcesVerticalScaling which are not available on node "plain"',
  ],
  ['a feature that is declared', spec('linux', '1', { resources: resources('1') }), spec('linux', '1'), ''],
  [
    'two features, of which one is declared',
    spec('linux', '1', { resources: resources('1'), ...init('2') }),
    spec('linux', '1', init('1')),
    'InPlacePodVerticalScalingInitContainers which are not available on node "linux"',
  ],
  [
    'a sidecar',
    spec('gone', '1', init('2', { restartPolicy: 'Always' })),
    spec('gone', '1', init('1', { restartPolicy: 'Always' })),
    '',
  ],
  ['containers', spec('gone', '2'), spec('gone', '1'), ''],
])('NodeDeclaredFeatureValidator sees %s', async (_, now, before, why) => {
  const refusal = await refusalOf(nodeDeclaredFeatureValidator(lister), change(now, before))
  expect(refusal).toBe(why === '' ? '' : `pods "a" is forbidden: pod update requires features ${why}`)
})
