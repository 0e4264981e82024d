import { describe, expect, test } from 'vitest'
import { allFeatureGates, checkFeatureGates, gatesAtVersion, isGateOn } from './feature-gates.js'

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

describe('in an older release', () => {
  const V33 = { emulation: 33, minCompatibility: 33 }

  test('gates have the stages and defaults of that release', () => {
    const gates = allFeatureGates({}, V33)
    expect(gates).toContainEqual({ name: 'MutatingAdmissionPolicy', stage: 'ALPHA', isOn: false })
    expect(gates).toContainEqual({ name: 'APIServerTracing', stage: 'BETA', isOn: true })
    expect(gates).toContainEqual({ name: 'WindowsHostNetwork', stage: 'DEPRECATED', isOn: false })
    expect(gates.find(({ name }) => name === 'HostnameOverride')).toBeUndefined()
    expect(gates).toHaveLength(172)
  })

  test('the differences from the newest one are values that were set', () => {
    const gates = gatesAtVersion({ WatchList: true }, V33)
    expect(gates).toMatchObject({ WatchList: true, HostnameOverride: false, MutatingAdmissionPolicy: false })
    expect(gates).not.toHaveProperty('JobSuccessPolicy')
    expect(isGateOn(gatesAtVersion({ AllAlpha: true }, V33), 'PodLevelResources')).toBe(true)
    expect(isGateOn(gatesAtVersion({ AllBeta: false }, V33), 'APIServerTracing')).toBe(false)
    expect(gatesAtVersion({}, { emulation: 36, minCompatibility: 33 })).toEqual({})
  })

  test('gates that it lacks cannot be set, and those that were locked later can', () => {
    const pre = 'feature is PreAlpha at emulated version 1.33, min compatibility version 1.33'
    expect(() => checkFeatureGates({ HostnameOverride: false, JobSuccessPolicy: false }, V33)).toThrow(
      `[cannot set feature gate HostnameOverride to false, ${pre}, cannot set feature gate JobSuccessPolicy to false, feature is locked to true]`,
    )
    expect(() => checkFeatureGates({ DisableAllocatorDualWrite: true, ImageVolume: true }, V33)).not.toThrow()
  })
})
