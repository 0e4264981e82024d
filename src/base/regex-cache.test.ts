import { expect, test } from 'vitest'
import { cachedRegex, compileRegex, isRegexError } from './regex-cache.js'

test('an expression is compiled once', () => {
  const first = compileRegex('^once$')
  expect(compileRegex('^once$')).toBe(first)
  expect(cachedRegex('^once$')).toBe(first)
})

test('an error has the words of Go and is not kept', () => {
  const compiled = compileRegex('a(')
  expect(isRegexError(compiled) && compiled.error).toBe('error parsing regexp: missing closing ): `a(`')
  expect(cachedRegex('a(')).toBeUndefined()
})

test('what is not used again is dropped', () => {
  compileRegex('^first$')
  for (let i = 0; i < 5000; i++) compileRegex(`^${i}$`)
  expect(cachedRegex('^first$')).toBeUndefined()
  expect(cachedRegex('^4999$')).toBeDefined()
})
