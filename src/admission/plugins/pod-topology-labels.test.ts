import { expect, test } from 'vitest'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { attributesFor, mutated, refusalOf } from '../attributes.suite.js'
import { denyServiceExternalIPs } from './deny-service-external-ips.js'
import { podTopologyLabels } from './pod-topology-labels.js'

const objectOf = (kind: string, rest: ValueObject, labels: ValueObject = {}): ApiObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'a', labels },
  ...rest,
})

const ZONE = 'topology.kubernetes.io/zone'
const node = objectOf('Node', {}, { [ZONE]: 'z1', 'topology.kubernetes.io/region': 'r1', other: 'x' })
const plugin = podTopologyLabels({
  find: async (_, __, name) => (name === 'n' ? node : undefined),
  all: async () => [node],
})
const labelsOf = async (resource: string, object: ApiObject): Promise<unknown> =>
  (await mutated(plugin, attributesFor(resource, { object })))!.metadata['labels']

test('a Binding and a pod with a node get the zone and region of the node', async () => {
  const labels = { [ZONE]: 'z1', 'topology.kubernetes.io/region': 'r1' }
  const binding = (kind: string, name: string): ApiObject => objectOf('Binding', { target: { kind, name } })
  expect(await labelsOf('pods/binding', binding('Node', 'n'))).toEqual(labels)
  expect(await labelsOf('pods/binding', binding('Node', 'absent'))).toEqual({})
  expect(await labelsOf('pods/binding', binding('Other', 'n'))).toEqual({})
  const pod = objectOf('Pod', { spec: { nodeName: 'n' } }, { [ZONE]: 'wrong', own: 'y' })
  expect(await labelsOf('pods', pod)).toEqual({ ...labels, own: 'y' })
  expect(await labelsOf('pods', objectOf('Pod', { spec: {} }))).toEqual({})
})

test('DenyServiceExternalIPs refuses new addresses, and lets old ones stay', async () => {
  const service = (...externalIPs: string[]): ApiObject => objectOf('Service', { spec: { externalIPs } })
  const refusal = (object: ApiObject, oldObject?: ApiObject): Promise<string> =>
    refusalOf(denyServiceExternalIPs, attributesFor('services', { object, oldObject }))
  const denied = 'services "a" is forbidden: Use of external IPs is denied by admission control'
  expect(await refusal(service())).toBe('')
  expect(await refusal(service('1.2.3.4'))).toBe(denied)
  expect(await refusal(service('1.2.3.4'), service('1.2.3.4', '5.6.7.8'))).toBe('')
  expect(await refusal(service('1.2.3.5'), service('1.2.3.4'))).toBe(denied)
})
