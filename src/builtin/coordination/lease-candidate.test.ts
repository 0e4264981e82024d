import { expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { builtinTypes } from '../../types/type-table.js'
import { builtinKinds } from '../builtin-kinds.js'
import { created, errorsOf, strategyOf, tableRowOf, validationOf } from '../written-objects.suite.js'

const KIND = ['coordination.k8s.io/v1beta1', 'LeaseCandidate'] as const
const OLDEST = 'OldestEmulationVersion'
const VALID = { leaseName: 'a', binaryVersion: '1.2.3', emulationVersion: '1.2.0', strategy: OLDEST }

test.each<[ValueObject, string[]]>([
  [VALID, []],
  [{ ...VALID, binaryVersion: '1.2.3-alpha.1+x', emulationVersion: '', strategy: 'a.b/C' }, []],
  [{}, ['spec.leaseName: Required value', 'spec.binaryVersion: Required value', 'spec.strategy: Required value']],
  [
    { ...VALID, binaryVersion: 'v1', emulationVersion: '2..', strategy: 'oldest' },
    [
      'spec.emulationVersion: Invalid value: "2..": must be a valid semantic version',
      'spec.binaryVersion: Invalid value: "v1": must be a valid semantic version',
      `spec.strategy.strategy: Unsupported value: "oldest": supported values: "${OLDEST}"`,
    ],
  ],
  [
    { ...VALID, emulationVersion: '1.3.0', strategy: 'a.b/c' },
    ['spec.binaryVersion: Invalid value: "1.2.3": must be greater than or equal to `emulationVersion`'],
  ],
  [
    { ...VALID, emulationVersion: '1.02.0' },
    [
      'spec.emulationVersion: Invalid value: "1.02.0": must be a valid semantic version',
      `spec.emulationVersion: Required value: must be specified when \`strategy\` is '${OLDEST}'`,
    ],
  ],
])('a candidate with %j', (spec, errors) => {
  expect(errorsOf(...KIND, { spec })).toEqual(errors)
})

test('its lease stays', () => {
  const object = (leaseName: string): ValueObject => ({
    metadata: { name: 'A_b', namespace: 'c', resourceVersion: '1' },
    spec: { ...VALID, leaseName },
  })
  const errors = validationOf(...KIND, true).update(object('b'), object('a'))
  expect(errors.map(printFieldError)).toEqual(['spec.leaseName: Invalid value: "b": field is immutable'])
})

test('versions, storage version and warnings', () => {
  const kind = builtinKinds(builtinTypes()).find(({ names }) => names.plural === 'leasecandidates')!
  expect(kind.versions.map(({ name, served }) => [name, served])).toEqual([
    ['v1beta1', false],
    ['v1alpha2', false],
  ])
  expect(kind.storageVersion).toBe('v1beta1')
  expect(strategyOf('coordination.k8s.io/v1alpha2', 'LeaseCandidate').deprecationWarning).toBe(
    'coordination.k8s.io/v1alpha2 LeaseCandidate is deprecated in v1.35+, unavailable in v1.38+',
  )
})

test('the row shows the lease and the versions', () => {
  const row = tableRowOf('coordination.k8s.io/v1beta1', 'leasecandidates')
  expect(row(created(...KIND, { spec: VALID }), 0)).toEqual(['x', 'a', '1.2.3', '1.2.0', '<unknown>'])
})
