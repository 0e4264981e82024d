import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  humanDuration,
  millisOf,
  parseDuration,
  parseMicroTime,
  parseTime,
  printDuration,
  printMicroTime,
  printTime,
} from './time.js'

describe('a Time', () => {
  test.each([
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59Z'],
    ['2024-01-01T00:00:00.987654Z', '2024-01-01T00:00:00Z'],
    ['2024-01-01T01:30:00+02:00', '2023-12-31T23:30:00Z'],
    ['2024-01-01T00:00:00-00:30', '2024-01-01T00:30:00Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['2024-01-01T5:00:00Z', '2024-01-01T05:00:00Z'],
  ])('%s is kept as %s', (text, value) => {
    expect(parseTime(text)).toEqual({ ok: true, value })
  })

  test.each([
    ['yesterday', 'as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"'],
    ['', 'as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006"'],
    ['2024', 'as "2006-01-02T15:04:05Z07:00": cannot parse "" as "-"'],
    ['2024-01-01', 'as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'],
    ['2024-1-01T00:00:00Z', 'as "2006-01-02T15:04:05Z07:00": cannot parse "1-01T00:00:00Z" as "01"'],
    ['2024-01-01T00:00:00', 'as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"'],
    ['2024-01-01T00:00:00z', 'as "2006-01-02T15:04:05Z07:00": cannot parse "z" as "Z07:00"'],
    ['2024-13-01T00:00:00Z', ': month out of range'],
    ['2023-02-29T00:00:00Z', ': day out of range'],
    ['2024-01-01T24:00:00Z', ': hour out of range'],
    ['2024-01-01T00:00:00Zoo', ': extra text: "oo"'],
  ])('%j is none', (text, error) => {
    const between = error.startsWith(':') ? '' : ' '
    expect(parseTime(text)).toEqual({ ok: false, error: `parsing time "${text}"${between}${error}` })
  })

  it('is printed in seconds and parsed back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e13 }), millis => {
        const text = printTime(millis)
        expect(parseTime(text)).toEqual({ ok: true, value: text })
        expect(millisOf(text)).toBe(Math.floor(millis / 1000) * 1000)
      }),
    )
  })
})

describe('a MicroTime', () => {
  it('has six decimals', () => {
    expect(printMicroTime(1_500)).toBe('1970-01-01T00:00:01.500000Z')
    expect(parseMicroTime('2024-01-01T01:00:00.123456+01:00')).toEqual({
      ok: true,
      value: '2024-01-01T00:00:00.123456Z',
    })
    expect(parseMicroTime('2020-01-01T00:00:00Z')).toEqual({
      ok: false,
      error: 'parsing time "2020-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    })
  })
})

describe('a duration', () => {
  test.each([
    ['0', 0n, '0s'],
    ['1h30m', 5_400_000_000_000n, '1h30m0s'],
    ['-1.5s', -1_500_000_000n, '-1.5s'],
    ['300ms', 300_000_000n, '300ms'],
    ['.5us', 500n, '500ns'],
    ['1µs500ns', 1_500n, '1.5µs'],
    ['61s', 61_000_000_000n, '1m1s'],
  ])('%s', (text, nanos, canonical) => {
    expect(parseDuration(text)).toEqual({ ok: true, value: nanos })
    expect(printDuration(nanos)).toBe(canonical)
  })

  test.each([
    ['nonsense', 'time: invalid duration "nonsense"'],
    ['', 'time: invalid duration ""'],
    ['.', 'time: invalid duration "."'],
    ['5', 'time: missing unit in duration "5"'],
    ['5x', 'time: unknown unit "x" in duration "5x"'],
    ['5constructor', 'time: unknown unit "constructor" in duration "5constructor"'],
    ['9999999999h', 'time: invalid duration "9999999999h"'],
  ])('%j is none', (text, error) => {
    expect(parseDuration(text)).toEqual({ ok: false, error })
  })

  it('parses what it prints', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), nanos => {
        expect(parseDuration(printDuration(nanos))).toEqual({ ok: true, value: nanos })
      }),
    )
  })
})

describe('ages', () => {
  const second = 1
  const minute = 60
  const hour = 3600
  const day = 86400
  const year = 365 * day
  test.each([
    [-2 * second, '<invalid>'],
    [-1 * second, '0s'],
    [0, '0s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [9 * minute + 59, '9m59s'],
    [10 * minute + 30, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 5 * minute, '7h5m'],
    [8 * hour + 5 * minute, '8h'],
    [47 * hour, '47h'],
    [2 * day, '2d'],
    [7 * day + 23 * hour, '7d23h'],
    [8 * day + 23 * hour, '8d'],
    [2 * year - hour, '729d'],
    [2 * year, '2y'],
    [3 * year + 20 * day, '3y20d'],
    [8 * year + 20 * day, '8y'],
  ])('%d s are %s', (seconds, shown) => {
    expect(humanDuration(seconds * 1000)).toBe(shown)
  })
})
