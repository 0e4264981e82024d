import { expect, test } from 'vitest'
import { parseSchedule } from './schedule.js'

const next = (schedule: string, after: string, zone?: string): string | undefined => {
  const time = parseSchedule(schedule, zone)?.next(Date.parse(after))
  return time === undefined ? undefined : new Date(time).toISOString().slice(0, 16)
}

test.each([
  ['*/15 * * * *', '2026-01-01T00:00:00Z', undefined, '2026-01-01T00:15'],
  ['0 9 * * mon-fri', '2026-01-02T10:00:00Z', undefined, '2026-01-05T09:00'],
  ['0 0 13 * 5', '2026-01-01T00:00:00Z', undefined, '2026-01-02T00:00'],
  ['0 0 29 2 *', '2026-01-01T00:00:00Z', undefined, '2028-02-29T00:00'],
  ['@hourly', '2026-01-01T00:30:00Z', undefined, '2026-01-01T01:00'],
  ['0 0 * * 7', '2026-01-01T00:00:00Z', undefined, '2026-01-04T00:00'],
  ['30 9 * * *', '2026-01-01T00:00:00Z', 'America/New_York', '2026-01-01T14:30'],
  ['30 9 * * *', '2026-07-01T00:00:00Z', 'America/New_York', '2026-07-01T13:30'],
  ['30 2 * * *', '2026-03-08T06:00:00Z', 'America/New_York', '2026-03-09T06:30'],
  ['0 0 31 2 *', '2026-01-01T00:00:00Z', undefined, undefined],
  ['61 * * * *', '2026-01-01T00:00:00Z', undefined, undefined],
  ['* * * *', '2026-01-01T00:00:00Z', undefined, undefined],
  ['* * * * *', '2026-01-01T00:00:00Z', 'Nowhere/Land', undefined],
])('%s after %s in %s is %s', (schedule, after, zone, expected) => {
  expect(next(schedule, after, zone)).toBe(expected)
})

test('an interval is read in a time that grows with its length', () => {
  expect(next('@every 1h30m', '2026-01-01T00:00:00Z')).toBe('2026-01-01T01:30')
  expect(parseSchedule(`@every ${'1'.repeat(1_000_000)}`, undefined)).toBeUndefined()
})
