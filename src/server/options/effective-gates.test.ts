import { expect, test } from 'vitest'
import { admissionWithGates, checkGatedOptions, gatesWithoutEffect } from './effective-gates.js'

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

test('headers with the uid of a proxied user need their gate', () => {
  const headers = (...uidHeaders: string[]) => ({ requestHeader: { uidHeaders } })
  const off = { RemoteRequestHeaderUID: false }
  expect(() => checkGatedOptions(headers('x-uid'), off)).toThrow(
    '--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled',
  )
  expect(() => checkGatedOptions(headers('x-uid'), {})).not.toThrow()
  for (const options of [headers(), {}]) expect(() => checkGatedOptions(options, off)).not.toThrow()
})

test('issuers that are reached through a proxy need their gate', () => {
  const issuers = (...types: string[]) => ({
    openIdConnect: { configuration: { issuers: types.map(egressSelectorType => ({ egressSelectorType })) } },
  })
  const gate = 'StructuredAuthenticationConfigurationEgressSelector'
  expect(() => checkGatedOptions(issuers('', 'cluster'), { [gate]: false })).toThrow(
    `invalid authentication configuration: jwt[1].issuer.egressSelectorType: Invalid value: "cluster": egress selector is not supported when ${gate} feature gate is disabled`,
  )
  expect(() => checkGatedOptions(issuers('', 'cluster'), {})).not.toThrow()
  expect(() => checkGatedOptions(issuers(''), { [gate]: false })).not.toThrow()
})
