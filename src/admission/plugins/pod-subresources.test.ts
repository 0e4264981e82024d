// Which subresources of a pod LimitRanger and PodSecurity check.
import { expect, test } from 'vitest'
import { createMetrics } from '../../base/metrics.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import type { Lister } from '../../objects/lister.js'
import { attributesFor } from '../attributes.suite.js'
import { type AdmissionPlugin, createAdmission } from '../chain.js'
import { limitRanger } from './limit-ranger.js'
import { NO_EXEMPTIONS } from './pod-security/configuration.js'
import { podSecurity } from './pod-security/plugin.js'

const RANGE: ApiObject = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'r' },
  spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] },
}
const NAMESPACE: ApiObject = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'x', labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } },
}
const OBJECTS: Lister = {
  find: async () => NAMESPACE,
  all: async ({ kind }) => (kind === 'LimitRange' ? [RANGE] : []),
}

const pod = (cpu: string, image = 'i'): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { hostPID: true, containers: [{ name: 'c', image, resources: { limits: { cpu } } }] },
})

/** Why the plugin refuses an update of the pod through the resource; empty if it does not. */
async function refusalOf(plugin: AdmissionPlugin, resource: string, object: ApiObject): Promise<string> {
  try {
    await createAdmission([plugin]).validate(attributesFor(resource, { object, oldObject: pod('1'), name: 'p' }))
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

test('LimitRanger checks resizes, and no other updates', async () => {
  const plugin = limitRanger(OBJECTS)
  expect(await refusalOf(plugin, 'pods/resize', pod('2'))).toMatch(
    /maximum cpu usage per Container is 1, but limit is 2/,
  )
  expect(await refusalOf(plugin, 'pods/resize', pod('1'))).toBe('')
  expect(await refusalOf(plugin, 'pods', pod('2'))).toBe('')
  expect(await refusalOf(plugin, 'pods/status', pod('2'))).toBe('')
})

test('PodSecurity checks updates that change what a pod runs, through every subresource that can', async () => {
  const plugin = podSecurity({ objects: OBJECTS, metrics: createMetrics() }, NO_EXEMPTIONS)
  const violation = 'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)'
  expect(await refusalOf(plugin, 'pods', pod('1', 'other'))).toBe(violation)
  expect(await refusalOf(plugin, 'pods/ephemeralcontainers', pod('1', 'other'))).toBe(violation)
  expect(await refusalOf(plugin, 'pods/status', pod('1', 'other'))).toBe('')
  expect(await refusalOf(plugin, 'pods/resize', pod('2'))).toBe('')
})
