import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { validationOf } from '../written-objects.suite.js'

const validation = validationOf('storage.k8s.io/v1', 'StorageClass', false)
const errorsOf = (object: ValueObject): string[] =>
  validation.create({ metadata: { name: 'x' }, ...object }).map(printFieldError)

const metadata = { name: 'x', resourceVersion: '1' }
const errorsOfChange = (object: ValueObject, old: ValueObject): string[] =>
  validation.update({ metadata, ...object }, { metadata, ...old }).map(printFieldError)

describe('a storage class', () => {
  const storage = { provisioner: 'p', reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }
  const term = (...values: string[]) => ({ matchLabelExpressions: [{ key: 'zone', values }] })

  test.each<[string, ValueObject, string[]]>([
    ['without a provisioner', { provisioner: '' }, ['provisioner: Required value']],
    ['with capitals in the provisioner', { provisioner: 'Example.com/P' }, []],
    [
      'with a parameter without a name',
      { parameters: { '': '' } },
      ['parameters: Invalid value: "": field can not be empty.'],
    ],
    [
      'with the same topology twice',
      { allowedTopologies: [term('a', 'b'), term('b', 'a')] },
      ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
    ],
    [
      'with a topology without values',
      { allowedTopologies: [term()] },
      ['allowedTopologies[0].matchLabelExpressions[0].values: Required value'],
    ],
  ])('%s', (_name, fields, expected) => {
    expect(errorsOf({ ...storage, ...fields })).toEqual(expected)
  })

  test('expansion, mount options and topologies may change', () => {
    const changed = { ...storage, provisioner: 'q', allowVolumeExpansion: true, mountOptions: ['ro'] }
    expect(errorsOfChange(changed, storage)).toEqual(['provisioner: Invalid value: "q": field is immutable'])
  })
})
