import { expect, test } from 'vitest'
import type { Kind } from '../../kinds/kind.js'
import { checkRuntimeConfig, withCoreNames, withRuntimeConfig } from './runtime-config.js'

const kind = (group: string, plural = 'things') =>
  ({
    group,
    names: { plural },
    versions: [
      { name: 'v1', served: true },
      { name: 'v1beta1', served: false },
      { name: 'v2alpha1', served: false },
    ],
  }) as unknown as Kind
const served = (each: Kind, config: Record<string, boolean>, gates: Record<string, boolean> = {}) =>
  withRuntimeConfig(each, config, gates).versions.flatMap(({ name, served: isServed }) => (isServed ? name : []))

test.each([
  ['apps', {}, ['v1']],
  ['apps', { 'apps/v1beta1': true }, ['v1', 'v1beta1']],
  ['apps', { 'batch/v1beta1': true }, ['v1']],
  ['', { v1: false }, []],
  ['apps', { 'api/all': true }, ['v1', 'v1beta1', 'v2alpha1']],
  ['apps', { 'api/beta': true, 'api/ga': false }, ['v1beta1']],
  ['apps', { 'api/all': false, 'apps/v1': true }, ['v1']],
  ['apps', { 'apps/v1beta1/things': true, 'apps/v1beta1/others': false }, ['v1', 'v1beta1']],
  ['apps', { 'apps/v1beta1': true, 'apps/v1beta1/things': false }, ['v1']],
  ['apiextensions.k8s.io', { 'api/all': true }, ['v1', 'v2alpha1']],
  ['apiextensions.k8s.io', { 'apiextensions.k8s.io/v1beta1': true }, ['v1', 'v1beta1']],
])('in group "%s" under %j', (group, config, expected) => {
  expect(served(kind(group), config)).toEqual(expected)
})

const BUNDLES = kind('certificates.k8s.io', 'clustertrustbundles')
const MIGRATIONS = kind('storagemigration.k8s.io', 'storageversionmigrations')
const BUNDLES_BY_NAME = { 'certificates.k8s.io/v1beta1': true, 'certificates.k8s.io/v1': false }
const MIGRATIONS_BY_NAME = { 'storagemigration.k8s.io/v1beta1': true, 'storagemigration.k8s.io/v1': false }

test.each([
  [BUNDLES, BUNDLES_BY_NAME, {}, []],
  [BUNDLES, BUNDLES_BY_NAME, { ClusterTrustBundle: true }, ['v1beta1']],
  [BUNDLES, BUNDLES_BY_NAME, { AllBeta: true }, ['v1beta1']],
  [MIGRATIONS, { 'api/beta': true, 'api/ga': false }, {}, []],
  [MIGRATIONS, { 'api/beta': true, 'api/ga': false }, { StorageVersionMigrator: true }, ['v1beta1']],
  [MIGRATIONS, MIGRATIONS_BY_NAME, {}, ['v1beta1']],
  [MIGRATIONS, MIGRATIONS_BY_NAME, { StorageVersionMigrator: false }, []],
])('%# a resource behind a gate', (each, config, gates, expected) => {
  expect(served(each, config, gates)).toEqual(expected)
})

test('a kind of which nothing changes stays the same value', () => {
  const same = kind('apps')
  expect(withRuntimeConfig(same, { 'batch/v1': false })).toBe(same)
})

test('the core group has several names', () => {
  expect(withCoreNames({ 'api/v1': true, 'apps/v1': false })).toEqual({ v1: true, 'apps/v1': false })
  expect(withCoreNames({ 'api/v1/pods': false, 'api/v2': true })).toEqual({ v1: false, 'api/v2': true })
})

const SERVED = new Set(['v1', 'apps/v1'])

test.each([
  [{ 'nope/v1': true, 'b/v1': false }, 'unknown api groups b/v1,nope/v1'],
  [{ 'api/foo': true }, 'unknown api groups api/foo'],
  [{ 'apps/v9': true }, 'group version apps/v9 that has not been registered'],
  [{ 'apps/v9/deployments': true }, 'group version apps/v9 that has not been registered'],
  [
    { 'apps/v1/Deployments': true },
    'invalid key apps/v1/Deployments: group/version/resource and resource is always lowercase plural, not "Deployments"',
  ],
  [{ v9: true }, 'group version v9 that has not been registered'],
  [{ 'api/all': false }, 'invalid runtime-config with only api/all=false'],
])('%j is refused', (config, message) => {
  expect(() => checkRuntimeConfig(config, SERVED)).toThrow(message)
})

test('a version that only kube-apiserver has may be named, and is reported when switched on', () => {
  expect(
    checkRuntimeConfig({ 'apps/v1beta1': true, 'batch/v1beta1': false, v1: true, 'api/beta': true }, SERVED),
  ).toEqual(['apps/v1beta1'])
})
