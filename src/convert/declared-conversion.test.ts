import { expect, test } from 'vitest'
import type { VersionedObject } from './conversion.js'
import { readDeclaredConversion } from './declared-conversion.js'

const conversion = (text: string) => {
  const read = readDeclaredConversion(text)
  if (!read.ok) throw new Error(read.error)
  return read.value
}

const object = (version: string, spec: object, metadata: object = { name: 'a' }): VersionedObject =>
  ({ apiVersion: `example.com/${version}`, kind: 'Widget', metadata, spec }) as VersionedObject

const STEPS = `
- from: v1
  to: v2
  steps:
  - {move: spec.size, to: spec.dimensions.height}
  - {set: spec.mode, value: Safe}
  - {set: spec.title, expression: "self.spec.name + '!'"}
  - {remove: spec.legacy}
`

test('moves, constants, expressions and removals are carried out in order, on a copy', () => {
  const before = object('v1', { size: 3, name: 'x', legacy: true })
  const copy = structuredClone(before)
  expect(conversion(STEPS).convert(before, 'example.com/v2')).toEqual(
    object('v2', { name: 'x', dimensions: { height: 3 }, mode: 'Safe', title: 'x!' }),
  )
  expect(before).toEqual(copy)
})

test('the other direction undoes what it can, and names what is lost', () => {
  const { convert, oneWay } = conversion(STEPS)
  expect(
    convert(object('v2', { name: 'x', dimensions: { height: 3 }, mode: 'Safe', title: 'x!' }), 'example.com/v1'),
  ).toEqual(object('v1', { name: 'x', size: 3 }))
  expect(oneWay).toEqual([{ from: 'v2', to: 'v1', lost: ['spec.legacy'] }])
})

test('versions are reached through others, and without a way it is an error', () => {
  const { path, convert } = conversion(
    '[{from: v1, to: v2, steps: []}, {from: v2, to: v3, steps: [{move: spec.a, to: spec.b}]}]',
  )
  expect(path('v3', 'v1')).toEqual(['v3', 'v2', 'v1'])
  expect(convert(object('v1', { a: 1 }), 'example.com/v3')).toEqual(object('v3', { b: 1 }))
  expect(() => convert(object('v1', {}), 'example.com/v9')).toThrow(
    'no conversion from example.com/v1 to example.com/v9 is described',
  )
})

test('labels and annotations can be moved to, with dots in brackets, and an empty result leaves a field out', () => {
  const { convert } = conversion(`[{from: v1, to: v2, steps: [
    {move: spec.note, to: 'metadata.annotations["example.com/note"]'},
    {set: spec.x, expression: 'has(self.spec.y) ? optional.of(self.spec.y) : optional.none()'}]}]`)
  expect(convert(object('v1', { note: 'n' }), 'example.com/v2')).toEqual(
    object('v2', {}, { name: 'a', annotations: { 'example.com/note': 'n' } }),
  )
})

test('an expression that fails is an error of the conversion', () => {
  const { convert } = conversion('[{from: v1, to: v2, steps: [{set: spec.a, expression: self.spec.missing}]}]')
  expect(() => convert(object('v1', {}), 'example.com/v2')).toThrow(
    'the expression self.spec.missing fails: no such key: missing',
  )
})

test.each([
  ['a: [', /yaml/],
  ['a: 1', /it must be a list of conversions/],
  ['[{from: v1}]', /\[0\] must have the versions from and to/],
  ['[{from: v1, to: v2, steps: [{move: spec.a}]}]', /\[0\]\.steps\[0\] must be \{move, to\}/],
  ['[{from: v1, to: v2, steps: [{remove: metadata.name}]}]', /must be a path of fields/],
  ['[{from: v1, to: v2, steps: [{set: spec.a, expression: "1 +"}]}]', /\[0\]\.steps\[0\]\.expression: .*Syntax error/s],
])('a wrong description says what is wrong: %s', (text, message) => {
  const read = readDeclaredConversion(text)
  expect(read.ok ? '' : read.error).toMatch(message)
})
