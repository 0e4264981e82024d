import { expect, test } from 'vitest'
import { admissionWithGates, gatesWithoutEffect } from './effective-gates.js'

test('a gate that changes nothing here is accepted with a warning', () => {
  const gates = { KMSv1: true, WatchList: false, SELinuxMount: false, SidecarContainers: true }
  expect(gatesWithoutEffect(gates)).toEqual(['--feature-gates: KMSv1 has no effect here'])
})

test('a gate switches its admission plugin off', () => {
  const options = { enabled: [], disabled: ['ServiceAccount'] }
  expect(admissionWithGates(options, {})).toBe(options)
  expect(admissionWithGates(options, { PodTopologyLabelsAdmission: false }).disabled).toEqual([
    'ServiceAccount',
    'PodTopologyLabels',
  ])
})
