import { expect, test } from 'vitest'
import type { Value } from '../values/value.js'
import { checkTypeMeta, typeMetaOf } from './type-meta.js'

const refusal = (value: Value, isYaml = false): string | undefined => {
  try {
    checkTypeMeta(value, why => new Error(why), isYaml)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

test('the members are found in any case, and the last one counts', () => {
  expect(typeMetaOf({ KIND: 'A', kind: 'B', ApiVersion: 'v2' })).toMatchObject({ apiVersion: 'v2', kind: 'B' })
  expect(typeMetaOf({ kind: 'B', KIND: 'A' }).kind).toBe('A')
  expect(typeMetaOf({ kind: 'B', KIND: null }).kind).toBe('B')
})

test('those of YAML are read by name', () => {
  expect(typeMetaOf({ kind: 'B', KIND: 'A' }, true).kind).toBe('B')
})

test('the first that is no string is reported', () => {
  const NO_STRING = "couldn't get version/kind; json parse error: json: cannot unmarshal"
  expect(refusal({ kind: [], apiVersion: {} })).toBe(`${NO_STRING} array into Go struct field .kind of type string`)
  expect(refusal({ kind: [], apiVersion: {} }, true)).toBe(
    `${NO_STRING} object into Go struct field .apiVersion of type string`,
  )
  expect(refusal({ KIND: {} })).toBe(`${NO_STRING} object into Go struct field .kind of type string`)
})
