import { expect, test } from 'vitest'
import type { Kind } from '../../kinds/kind.js'
import { withRuntimeConfig } from './runtime-config.js'

const kind = (group: string) =>
  ({
    group,
    versions: [
      { name: 'v1', served: true },
      { name: 'v1beta1', served: false },
      { name: 'v2alpha1', served: false },
    ],
  }) as unknown as Kind
const served = (group: string, config: Record<string, boolean>) =>
  withRuntimeConfig(kind(group), config).versions.flatMap(({ name, served: isServed }) => (isServed ? name : []))

test.each([
  ['apps', {}, ['v1']],
  ['apps', { 'apps/v1beta1': true }, ['v1', 'v1beta1']],
  ['apps', { 'batch/v1beta1': true }, ['v1']],
  ['', { v1: false }, []],
  ['apps', { 'api/all': true }, ['v1', 'v1beta1', 'v2alpha1']],
  ['apps', { 'api/beta': true, 'api/ga': false }, ['v1beta1']],
  ['apps', { 'api/all': false, 'apps/v1': true }, ['v1']],
])('in group "%s" under %j', (group, config, expected) => {
  expect(served(group, config)).toEqual(expected)
})

test('a kind of which nothing changes stays the same value', () => {
  const same = kind('apps')
  expect(withRuntimeConfig(same, { 'batch/v1': false })).toBe(same)
})
