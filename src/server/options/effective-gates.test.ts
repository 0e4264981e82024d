import { expect, test } from 'vitest'
import { gatesWithoutEffect } from './effective-gates.js'

test('a gate that changes nothing here is accepted with a warning', () => {
  const gates = { KMSv1: true, WatchList: false, SELinuxMount: false, SidecarContainers: true }
  expect(gatesWithoutEffect(gates)).toEqual(['--feature-gates: KMSv1 has no effect here'])
})
