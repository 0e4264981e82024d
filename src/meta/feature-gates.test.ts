import { expect, test } from 'vitest'
import { allFeatureGates, checkFeatureGates, isGateOn } from './feature-gates.js'

test.each([
  [{}, false],
  [{ CBORServingAndStorage: true }, true],
  [{ AllAlpha: true }, true],
  [{ AllAlpha: true, CBORServingAndStorage: false }, false],
])('with %j CBOR is on: %j', (gates, isOn) => {
  expect(isGateOn(gates, 'CBORServingAndStorage')).toBe(isOn)
})

test('unknown gates and other values of locked ones are refused', () => {
  expect(() => checkFeatureGates({ Nonsense: true })).toThrow('unrecognized feature gate: Nonsense')
  expect(() => checkFeatureGates({ SidecarContainers: false })).toThrow(
    'cannot set feature gate SidecarContainers to false, feature is locked to true',
  )
})

test('a gate cannot be on without the gates that it needs', () => {
  expect(() => checkFeatureGates({ PodLevelResources: false })).toThrow(
    'InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that are disabled: [PodLevelResources]',
  )
  const off = { PodLevelResources: false, InPlacePodLevelResourcesVerticalScaling: false }
  expect(() => checkFeatureGates(off)).not.toThrow()
})

test('every gate is listed with its stage and its value', () => {
  const gates = allFeatureGates({ AllAlpha: true, WatchList: false })
  expect(gates).toContainEqual({ name: 'WatchList', stage: 'BETA', isOn: false })
  expect(gates).toContainEqual({ name: 'HPAScaleToZero', stage: 'ALPHA', isOn: true })
  expect(gates).toContainEqual({ name: 'SidecarContainers', stage: '', isOn: true })
  expect(gates).toContainEqual({ name: 'AllAlpha', stage: 'ALPHA', isOn: true })
})
