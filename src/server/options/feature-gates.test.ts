import { expect, test } from 'vitest'
import { checkFeatureGates, isGateOn } from './feature-gates.js'

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

test('a gate that changes nothing here is accepted with a warning', () => {
  expect(checkFeatureGates({ KMSv1: true, WatchList: false })).toEqual(['--feature-gates: KMSv1 has no effect here'])
})
