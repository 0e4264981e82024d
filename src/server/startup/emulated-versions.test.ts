import { expect, test } from 'vitest'
import { builtinKinds } from '../../builtin/builtin-kinds.js'
import { apiVersionOf } from '../../kinds/kind-names.js'
import { builtinTypes } from '../../types/type-table.js'
import type { RuntimeConfig } from '../options/api.js'
import { DEFAULT_VERSIONS, type VersionOptions } from '../options/versions.js'
import { emulateKinds } from './emulated-versions.js'
import { withRuntimeConfig } from './runtime-config.js'

const emulate = (emulation: number, config: RuntimeConfig = {}, more: Partial<VersionOptions> = {}) => {
  const options = { ...DEFAULT_VERSIONS, emulation, minCompatibility: Math.max(33, emulation - 1), ...more }
  const configured = builtinKinds(builtinTypes()).map(kind => withRuntimeConfig(kind, config))
  const kinds = emulateKinds(configured, config, options)
  return {
    served: new Set(
      kinds.flatMap(kind =>
        kind.versions
          .filter(({ served }) => served)
          .map(({ name }) => `${apiVersionOf(kind, name)}/${kind.names.plural}`),
      ),
    ),
    storedAs: (plural: string) => kinds.find(({ names }) => names.plural === plural)?.storedAs,
  }
}

const missing = (emulation: number, config: RuntimeConfig = {}): string[] => {
  const { served } = emulate(emulation, config)
  return [...emulate(36, config).served].filter(each => !served.has(each)).toSorted()
}

const MUTATING = (version: string): string[] =>
  ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'].map(
    plural => `admissionregistration.k8s.io/${version}/${plural}`,
  )

test('an older release lacks what came later', () => {
  const devices = ['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices']
  expect(missing(35)).toEqual(MUTATING('v1'))
  expect(missing(34)).toEqual(MUTATING('v1'))
  expect(missing(33)).toEqual([
    ...MUTATING('v1'),
    ...devices.map(plural => `resource.k8s.io/v1/${plural}`),
    'storage.k8s.io/v1/volumeattributesclasses',
  ])
})

test('versions that were removed since are there only in older releases', () => {
  const policies = 'admissionregistration.k8s.io/v1beta1/validatingadmissionpolicies'
  const config = { 'admissionregistration.k8s.io/v1beta1': true }
  expect(emulate(33, config).served).toContain(policies)
  expect(emulate(34, config).served).not.toContain(policies)
  expect(emulate(33).served).not.toContain(policies)
})

test('objects are stored in the newest version that the oldest compatible release has', () => {
  const stored = (emulation: number, minCompatibility: number) =>
    emulate(emulation, {}, { minCompatibility }).storedAs('resourceclaims')
  expect([stored(36, 35), stored(36, 33), stored(34, 34), stored(33, 33)]).toEqual([
    'resource.k8s.io/v1',
    'resource.k8s.io/v1beta2',
    'resource.k8s.io/v1',
    'resource.k8s.io/v1beta2',
  ])
})

test('--runtime-config cannot switch on what the release lacks', () => {
  expect(() => emulate(33, { 'resource.k8s.io/v1': true })).toThrow(
    'cannot enable version resource.k8s.io/v1 in runtime-config because all the resources have been introduced after the current version 1.33. Consider setting --runtime-config-emulation-forward-compatible=true',
  )
  expect(() => emulate(34, { 'resource.k8s.io/v1beta2/devicetaintrules': true })).toThrow(
    'cannot enable resource resource.k8s.io/v1beta2, Resource=devicetaintrules in runtime-config because it is introduced at 1.36 after the current version 1.34. Consider setting --runtime-config-emulation-forward-compatible=true',
  )
  const { served } = emulate(33, { 'resource.k8s.io/v1': true }, { configForwardCompatible: true })
  expect(served).toContain('resource.k8s.io/v1/resourceclaims')
  expect(served).not.toContain('storage.k8s.io/v1/volumeattributesclasses')
})

test('newer versions of what is served may be served, too', () => {
  const forwardCompatible = { forwardCompatible: true }
  const { served } = emulate(33, { 'resource.k8s.io/v1beta1': true }, forwardCompatible)
  expect(served).toContain('resource.k8s.io/v1beta2/resourceclaims')
  expect(served).toContain('resource.k8s.io/v1/resourceclaims')
  expect(emulate(33, {}, forwardCompatible).served).not.toContain('resource.k8s.io/v1/resourceclaims')
  const off = { 'resource.k8s.io/v1beta1': true, 'resource.k8s.io/v1': false }
  expect(emulate(33, off, forwardCompatible).served).not.toContain('resource.k8s.io/v1/resourceclaims')
})
