import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { builtinTypes } from '../../types/type-table.js'
import { versionOf } from '../../types/typed-body.js'
import { builtinKinds } from '../builtin-kinds.js'
import { strategyOf } from '../written-objects.suite.js'

test.each<readonly [string, string, string]>([
  ['networking.k8s.io/v1beta1', 'IPAddress', 'is deprecated in v1.34+, unavailable in v1.37+'],
  ['networking.k8s.io/v1beta1', 'ServiceCIDR', 'is deprecated in v1.34+, unavailable in v1.37+'],
  [
    'storage.k8s.io/v1beta1',
    'VolumeAttributesClass',
    'is deprecated in v1.34+, unavailable in v1.37+; use storage.k8s.io/v1 VolumeAttributesClass',
  ],
  ...['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'].flatMap(
    kind =>
      [
        ['resource.k8s.io/v1beta2', kind, 'is deprecated in v1.36+, unavailable in v1.39+'],
        ['resource.k8s.io/v1beta1', kind, 'is deprecated in v1.35+, unavailable in v1.38+'],
      ] as const,
  ),
])('%s %s', (apiVersion, kind, warning) => {
  expect(strategyOf(apiVersion, kind).deprecationWarning).toBe(`${apiVersion} ${kind} ${warning}`)
  const found = builtinKinds(builtinTypes()).find(each => each.names.kind === kind)!
  const servedByDefault = new Map(found.versions.map(({ name, served }) => [name, served]))
  expect(servedByDefault.get('v1')).toBe(true)
  expect(servedByDefault.get(versionOf(apiVersion))).toBe(false)
  expect(found.storageVersion).toBe('v1')
})

test('a field of a slice that is not selectable', () => {
  const kind = builtinKinds(builtinTypes()).find(({ names }) => names.plural === 'resourceslices')!
  expect(kind.versions.map(({ supportField }) => supportField('spec.x', '1'))).toMatchObject([
    { error: 'field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.x' },
    { error: 'field label not supported for resource.k8s.io/v1beta2, Kind=ResourceSlice: spec.x' },
    { error: 'field label not supported for resource.k8s.io/v1beta1, Kind=ResourceSlice: spec.x' },
  ])
})

test('an object of an earlier version is stored in the newest', () => {
  const kind = builtinKinds(builtinTypes()).find(({ names }) => names.plural === 'servicecidrs')!
  const object: ValueObject = { metadata: { name: 'x' }, spec: { cidrs: ['10.0.0.0/24'] }, status: {} }
  const earlier = { ...object, apiVersion: 'networking.k8s.io/v1beta1', kind: 'ServiceCIDR' }
  expect(kind.convert(earlier as never, 'networking.k8s.io/v1')).toEqual({
    ...object,
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
  })
})
