import { expect, test } from 'vitest'
import { parseObjectVersion, parseResourceVersion } from './resource-version.js'

test.each([
  ['', 0n],
  ['0', 0n],
  ['01', 1n],
  ['4611686018427387904', 4611686018427387904n],
])('%j is a version', (text, value) => {
  expect(parseResourceVersion(text)).toEqual({ ok: true, value })
})

test.each([
  ['abc', 'invalid syntax'],
  ['-1', 'invalid syntax'],
  ['18446744073709551616', 'value out of range'],
])('%j is none', (text, error) => {
  const why = `strconv.ParseUint: parsing "${text}": ${error}`
  expect(parseResourceVersion(text)).toEqual({ ok: false, error: `resourceVersion: Invalid value: "${text}": ${why}` })
  expect(parseObjectVersion(text)).toEqual({ ok: false, error: why })
})
