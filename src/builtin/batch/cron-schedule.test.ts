import { expect, test } from 'vitest'
import { checkSchedule } from './cron-schedule.js'

test.each([
  '* * * * *',
  '*/5 0-23/2 1,15 JAN-DEC sun',
  '5/10 * ? * ?',
  '0 0 31 2 *',
  '@daily',
  '@every 1h30m',
  'TZ=UTC 0 0 * * *',
  'CRON_TZ=Europe/Berlin @daily',
])('%s is a schedule', schedule => {
  expect(checkSchedule(schedule)).toBeUndefined()
})

test.each([
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['  1   2 ', 'expected exactly 5 fields, found 2: [1 2]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['* * * * mon-sun', 'beginning of range (1) beyond end of range (0): mon-sun'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['1/2/3 * * * *', 'too many slashes: 1/2/3'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
  ['TZ=Nowhere 0 0 * * *', 'provided bad location Nowhere: unknown time zone Nowhere'],
  ['TZ=0', 'invalid schedule format: runtime error: slice bounds out of range [3:-1]'],
  ['@often', 'unrecognized descriptor: @often'],
  ['@every now', 'failed to parse duration @every now: time: invalid duration "now"'],
])('%s is no schedule: %s', (schedule, error) => {
  expect(checkSchedule(schedule)).toBe(error)
})
