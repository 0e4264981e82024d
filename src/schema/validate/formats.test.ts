import { describe, expect, test } from 'vitest'
import { findFormat, isChecked, isKnownFormat } from './formats.js'

// Formats that the recordings do not touch; those that they do are replayed.
const CASES: readonly (readonly [format: string, right: readonly string[], wrong: readonly string[]])[] = [
  ['isbn', ['0-306-40615-2', '978-0-306-40615-7'], ['0-306-40615-3', '978-0-306-40615-8', '', 'x']],
  ['isbn10', ['080442957X'], ['978-0-306-40615-7']],
  ['isbn13', ['9780306406157'], ['080442957X']],
  ['creditcard', ['4111 1111 1111 1111', '378282246310005'], ['4111111111111112', '1234', '']],
  ['ssn', ['111-22-3333', '111 22 3333', '111223333'], ['11-22-3333', '']],
  ['hexcolor', ['#fff', 'FFFFFF'], ['#ffff', 'red', '']],
  ['rgbcolor', ['rgb(0,31,255)', 'rgb( 1 , 2 , 3 )'], ['rgb(0,31,256)', 'rgba(0,0,0,0)', '']],
  ['bsonobjectid', ['507f1f77bcf86cd799439011'], ['507f1f77bcf86cd79943901', 'x']],
  ['password', ['', 'anything'], []],
  ['k8s-short-name', ['my-name'], ['my.name', 'Name', '']],
  ['k8s-long-name', ['my.name'], ['My.name', '']],
]

describe.each(CASES)('format %s', (format, right, wrong) => {
  const holds = findFormat(format)!
  test.each(right)('takes %j', text => expect(holds(text)).toBe(true))
  test.each(wrong)('refuses %j', text => expect(holds(text)).toBe(false))
})

test.each([
  ['string', 'date-time', true],
  ['string', 'int32', false],
  ['integer', 'int32', true],
  ['integer', 'double', false],
  ['number', 'float', true],
  ['number', 'int64', false],
  ['object', 'date', false],
  ['', 'date', true],
  ['', 'nonsense', false],
])('for type %j, format %j is known: %j', (type, format, known) => expect(isKnownFormat(type, format)).toBe(known))

test('no text makes a format slow', () => {
  const texts = [
    '1 '.repeat(50_000),
    'a-'.repeat(50_000),
    '('.repeat(100_000),
    '1'.repeat(100_000),
    '%41'.repeat(30_000),
  ]
  const started = performance.now()
  for (const [format] of [...CASES, ['duration'], ['email'], ['uri'], ['hostname'], ['ipv6'], ['byte'], ['mac']]) {
    for (const text of texts) findFormat(format)!(text)
  }
  expect(performance.now() - started).toBeLessThan(1_000)
})

test.each([
  [['string'], 'int64', false],
  [['string'], 'date', true],
  [['integer'], 'date', false],
  [['integer'], 'int64', true],
  [[], 'int64', false],
  [[], 'date', true],
  [['object'], 'date', false],
])('values of the types %j are checked against the format %j: %j', (types, format, checked) =>
  expect(isChecked(types, { format })).toBe(checked),
)
