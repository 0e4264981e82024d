import { expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { changed, created, validationOf, warningsFor } from '../written-objects.suite.js'

const validation = validationOf('storage.k8s.io/v1', 'CSIDriver', false)
const errorsOf = (object: ValueObject): string[] =>
  validation.create({ metadata: { name: 'x' }, ...object }).map(printFieldError)

test('each audience has one token, of some duration', () => {
  const spec = {
    attachRequired: true,
    podInfoOnMount: false,
    storageCapacity: false,
    seLinuxMount: false,
    fsGroupPolicy: 'Odd',
    nodeAllocatableUpdatePeriodSeconds: 9,
    tokenRequests: [{ audience: 'a' }, { audience: 'a' }, { audience: 'b', expirationSeconds: 599 }],
  }
  expect(errorsOf({ spec })).toEqual([
    'spec.fsGroupPolicy: Unsupported value: "Odd": supported values: "File", "None", "ReadWriteOnceWithFSType"',
    'spec.tokenRequests[1].audience: Duplicate value: "a"',
    'spec.tokenRequests[2].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds',
  ])
})

const KIND = ['storage.k8s.io/v1', 'CSIDriver'] as const

test('tokens in secrets need token requests', () => {
  const driver = created(...KIND, { spec: { serviceAccountTokenInSecrets: true } })
  expect(validation.create(driver).map(printFieldError)).toEqual([
    'spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified',
  ])
})

test('token requests without a word about secrets are warned of', () => {
  const driver = created(...KIND, { spec: { tokenRequests: [{ audience: 'a' }] } })
  expect(warningsFor(...KIND, driver)).toEqual([expect.stringMatching(/^spec\.serviceAccountTokenInSecrets is unset/)])
  expect(warningsFor(...KIND, driver, driver)).toEqual([])
})

test('the generation counts changes of the spec', () => {
  const driver = created(...KIND, {})
  expect(changed(...KIND, driver, { metadata: { generation: 7 } })['metadata']).not.toHaveProperty('generation')
  expect(changed(...KIND, driver, { spec: { requiresRepublish: true } })).toMatchObject({ metadata: { generation: 1 } })
})
