import { expect, test } from 'vitest'
import { warningHeaders } from './warnings.js'

test('each text is sent once, in quotes, in UTF-8', () => {
  expect(warningHeaders(['a', 'say "b\\"', 'a', '', 'line\nbreak'])).toEqual(['299 - "a"', '299 - "say \\"b\\\\\\""'])
  expect(Buffer.from(warningHeaders(['ä'])[0]!, 'latin1').toString()).toBe('299 - "ä"')
})

test('if all texts together are too long, each is truncated', () => {
  const texts = Array.from({ length: 30 }, (_, i) => `${i} `.padEnd(1000, 'x'))
  const headers = warningHeaders(texts)
  expect(headers).toHaveLength(16)
  expect(headers[0]).toHaveLength('299 - ""'.length + 256)
  expect(warningHeaders([texts[0]!])[0]).toHaveLength('299 - ""'.length + 1000)
})
