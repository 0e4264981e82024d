import { expect, test } from 'vitest'
import { versionsFromFlags } from './versions.js'

const versions = (emulated: string, oldest = '', more: Record<string, boolean> = {}) =>
  versionsFromFlags({
    'emulated-version': emulated.split(',').filter(Boolean),
    'min-compatibility-version': oldest.split(',').filter(Boolean),
    'emulation-forward-compatible': false,
    'runtime-config-emulation-forward-compatible': false,
    ...more,
  })

test.each([
  ['', '', [36, 35]],
  ['1.36', '', [36, 35]],
  ['v1.35', '', [35, 34]],
  ['1.34.0', '', [34, 33]],
  ['kube=1.33', '', [33, 33]],
  [' kube = 1.35', '1.35', [35, 35]],
  ['', 'kube=1.33', [36, 33]],
])('--emulated-version=%s --min-compatibility-version=%s', (emulated, oldest, expected) => {
  const { emulation, minCompatibility } = versions(emulated, oldest)
  expect([emulation, minCompatibility]).toEqual(expected)
})

// As kube-apiserver prints them.
test.each([
  [
    '1.32',
    '',
    '[emulation version 1.32 is not between [1.33, 1.36.0], minCompatibilityVersion version 1.33 is not between [1.33, 1.32]]',
  ],
  ['1.37', '', 'emulation version 1.37 is not between [1.33, 1.36.0]'],
  ['2.0', '', 'emulation version 2.0 is not between [1.33, 1.36.0]'],
  ['abc', '', 'could not parse "abc" as version'],
  ['kube=', '', 'could not parse "" as version'],
  ['1', '', 'illegal version string "1"'],
  ['1.33.1', '', 'patch version not allowed, got: kube=1.33.1'],
  ['kube=1.33,1.34', '', 'duplicate version flag, kube=1.33 and kube=1.34'],
  ['wardle=1.33', '', 'component not registered: wardle'],
  ['1.35', '1.36', 'minCompatibilityVersion version 1.36 is not between [1.33, 1.35]'],
  ['', '1.32', 'minCompatibilityVersion version 1.32 is not between [1.33, 1.36]'],
])('--emulated-version=%s --min-compatibility-version=%s is refused', (emulated, oldest, message) => {
  expect(() => versions(emulated, oldest)).toThrow(expect.objectContaining({ message }))
})

test.each(['emulation-forward-compatible', 'runtime-config-emulation-forward-compatible'])(
  '--%s needs an older release',
  flag => {
    expect(() => versions('1.36', '', { [flag]: true })).toThrow(
      'cannot be set to true if the emulation version is the same as the binary version',
    )
    expect(() => versions('1.35', '', { [flag]: true })).not.toThrow()
  },
)
