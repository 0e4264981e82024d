import { expect, test } from 'vitest'
import { base64Error } from './base64.js'

test.each(['', 'YWJj', 'YWI=', 'YQ==', 'YW\nJj\r\n', 'YQ=\n=\n', '+/+/'])('%j is base64', text => {
  expect(base64Error(text)).toBeUndefined()
})

test.each([
  ['###', 0],
  ['abc', 0],
  ['YWJjZ', 4],
  ['YWJ#', 3],
  ['YWI', 0],
  ['YQ=', 3],
  ['YQ=a', 2],
  ['=', 0],
  ['a=', 1],
  ['YQ==x', 4],
  ['YWJ-', 3],
  ['ä', 0],
])('%j is none from byte %d on', (text, at) => {
  expect(base64Error(text)).toBe(`illegal base64 data at input byte ${at}`)
})
