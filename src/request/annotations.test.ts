import { expect, test } from 'vitest'
import { systemRequest } from './request.js'

test('the first audit annotation of a key stays, and of very many annotations the first thousand', () => {
  const request = systemRequest({ user: { name: 'test', uid: '', groups: [], extra: {} }, userAgent: 'test' })
  for (const value of ['first', 'second']) request.annotate('a', value)
  for (let i = 1; i < 2_000; i++) request.annotate(`a${i}`, '')
  expect(request.annotations.get('a')).toBe('first')
  expect(request.annotations.size).toBe(1_000)
  expect(request.annotations.has('a999')).toBe(true)
})
