import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  checkExpected,
  checkKey,
  checkPrefix,
  checkRange,
  checkReadAt,
  checkRevision,
  checkTarget,
  checkValue,
  compareKeys,
  endOfPrefix,
  MAX_KEY_BYTES,
  prefixesOf,
} from './keys.js'

const segment = fc
  .string({ unit: fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), fc.constantFrom('-', '0', '.')) })
  .map(text => text.replaceAll(/[/\0]/g, ''))
  .filter(text => text !== '')
const prefix = fc.array(segment, { maxLength: 3 }).map(segments => ['', ...segments, ''].join('/'))
const key = fc.tuple(prefix, segment).map(parts => parts.join(''))

describe('keys and prefixes', () => {
  test.each(['/a', '/configmaps/default/settings', '/a b/é/\u{1f600}', '/a0', '/..'])('%j is a key', good => {
    checkKey(good)
    checkTarget(good)
    expect(() => checkPrefix(good)).toThrow(/is not a prefix: it does not end with "\/"/)
  })

  test.each(['/', '/a/', '/pods/default/'])('%j is a prefix', good => {
    checkPrefix(good)
    checkTarget(good)
    expect(() => checkKey(good)).toThrow(/is not a key: it ends with "\/"/)
  })

  test.each([
    ['', 'does not begin with "/"'],
    ['a', 'does not begin with "/"'],
    ['//', 'a segment is empty'],
    ['/a//b', 'a segment is empty'],
    ['/a\0', 'a NUL'],
    ['/\ud800', 'half a surrogate pair'],
    [undefined as unknown as string, 'does not begin with "/"'],
  ])('%j is neither: %s', (bad, why) => {
    expect(() => checkKey(bad)).toThrow(why)
    expect(() => checkPrefix(bad)).toThrow(why)
    expect(() => checkTarget(bad)).toThrow(why)
  })

  test('are limited by bytes', () => {
    checkKey(`/${'k'.repeat(MAX_KEY_BYTES - 1)}`)
    expect(() => checkKey(`/${'k'.repeat(MAX_KEY_BYTES)}`)).toThrow(/of 1025 bytes/)
    checkKey(`/${'\u{1f600}'.repeat((MAX_KEY_BYTES - 4) / 4)}`)
    expect(() => checkKey(`/${'\u{1f600}'.repeat(MAX_KEY_BYTES / 4)}`)).toThrow(/of 1025 bytes/)
  })

  test('values are limited too', () => {
    checkValue(new Uint8Array(3), 3)
    expect(() => checkValue(new Uint8Array(4), 3)).toThrow('a value of 4 bytes is over the limit of 3')
  })
})

describe('revisions and ranges', () => {
  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('%d is not a revision', bad => {
    const code = { code: 'invalid-revision' }
    expect(() => checkRevision(bad)).toThrow(expect.objectContaining(code))
    expect(() => checkReadAt({ exactly: bad })).toThrow(expect.objectContaining(code))
    expect(() => checkReadAt({ notOlderThan: bad })).toThrow(expect.objectContaining(code))
    expect(() => checkRange('/', { at: { exactly: bad } })).toThrow(expect.objectContaining(code))
  })

  test('0 is a revision, but not of an entry', () => {
    checkRevision(0)
    expect(() => checkExpected(0)).toThrow(/not the revision of any entry/)
  })

  test('a page starts within its prefix and has a limit of one or more', () => {
    checkRange('/a/', { startAfter: '/a/b', limit: 1, at: 'latest' })
    expect(() => checkRange('/a/', { startAfter: '/b/a' })).toThrow(/it is not in "\/a\/"/)
    expect(() => checkRange('/a/', { startAfter: '/a/' })).toThrow(/is not a key/)
    expect(() => checkRange('/a/', { limit: 0 })).toThrow(/0 is not a limit/)
  })
})

describe('the order of keys', () => {
  test('is that of their UTF-8 bytes', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(Math.sign(compareKeys(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }),
      { numRuns: 1000 },
    )
  })

  test.each([
    ['\uffee', '\u{1f600}'],
    ['\ue000', '\u{10000}'],
    ['\ud7ff', '\ue000'],
    ['\ud7ff', '\u{10ffff}'],
    ['a', 'ab'],
  ])('has %j before %j', (a, b) => {
    expect(compareKeys(a, b)).toBeLessThan(0)
    expect(compareKeys(b, a)).toBeGreaterThan(0)
    expect(compareKeys(a, a)).toBe(0)
  })

  test('puts exactly the keys of a prefix between it and its end', () => {
    fc.assert(
      fc.property(prefix, key, (of, k) => {
        expect(compareKeys(of, k) <= 0 && compareKeys(k, endOfPrefix(of)) < 0).toBe(k.startsWith(of))
      }),
      { numRuns: 1000 },
    )
  })
})

test('the prefixes of a key are those that it begins with', () => {
  expect(prefixesOf('/pods/default/a')).toEqual(['/', '/pods/', '/pods/default/'])
  expect(prefixesOf('/a')).toEqual(['/'])
  fc.assert(
    fc.property(key, k => {
      for (const of of prefixesOf(k)) {
        checkPrefix(of)
        expect(k.startsWith(of)).toBe(true)
      }
      expect(prefixesOf(k)).toHaveLength(k.split('/').length - 1)
    }),
  )
})
