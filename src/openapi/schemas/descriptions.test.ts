import { expect, test } from 'vitest'
import { sharedTexts, textsOfType } from '../../types/descriptions.js'
import { bareName } from '../../types/type.js'
import { builtinTypes } from '../../types/type-table.js'
import { describeField, describeType } from './descriptions.js'

const types = builtinTypes()
const named = [...types.typeNames()].map(name => types.byName(name))

test('every field of every built-in type has a description', () => {
  const missing = named.flatMap(type =>
    [...type.fields.keys()].filter(field => !describeField(type.name, field)).map(field => `${type.name}.${field}`),
  )
  expect(missing).toEqual([])
})

test('every kind has a description', () => {
  const missing = [...types.kinds()].filter(([, type]) => !describeType(type)).map(([kind]) => kind)
  expect(missing).toEqual([])
})

test('every text is of a field that there is', () => {
  const unknown = named.flatMap(type =>
    Object.keys(textsOfType(type.name))
      .filter(
        field =>
          field !== '' && !named.some(each => bareName(each.name) === bareName(type.name) && each.fields.has(field)),
      )
      .map(field => `${type.name}.${field}`),
  )
  const fields = new Set(named.flatMap(type => Array.from(type.fields.keys())))
  expect([...unknown, ...Object.keys(sharedTexts('')).filter(field => !fields.has(field))]).toEqual([])
})

test.each([
  ['core/v1.Pod', 'apiVersion', 'APIVersion defines'],
  ['core/v1.Pod', 'metadata', "Standard object's metadata"],
  ['meta/v1.ObjectMeta', 'creationTimestamp', 'CreationTimestamp is a timestamp'],
  ['core/v1.ServiceList', 'items', 'List of services'],
  ['core/v1.PodCondition', 'status', 'True, False or Unknown'],
  ['core/v1.ObjectReference', 'kind', 'Kind of the referenced object'],
])('%s.%s begins with %j', (type, field, start) => {
  expect(describeField(type, field)).toMatch(new RegExp(`^${start}`))
})
