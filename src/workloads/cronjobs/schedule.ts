// Schedules of CronJobs: five fields or a word such as @hourly, in a time zone.
import { localTime, zoneFormat } from '../../base/time-zone.js'

export interface Schedule {
  /** The first time after this one, in milliseconds; undefined if there is none within five years. */
  next(after: number): number | undefined
}

const WORDS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const MAX_DAYS = 5 * 366

/** Undefined if the text is no schedule, or if the zone is not known. */
export function parseSchedule(text: string, timeZone = 'UTC'): Schedule | undefined {
  const every = /^@every (.+)$/.exec(text.trim())
  if (every) return parseEvery(every[1]!)
  const fields = (WORDS[text.trim()] ?? text).trim().split(/\s+/)
  if (fields.length !== 5) return undefined
  const sets = [
    parseField(fields[0]!, 0, 59),
    parseField(fields[1]!, 0, 23),
    parseField(fields[2]!, 1, 31),
    parseField(fields[3]!, 1, 12, MONTHS, 1),
    parseField(fields[4]!, 0, 7, DAYS, 0),
  ]
  const zone = createZone(timeZone)
  if (!zone || sets.includes(undefined)) return undefined
  const [minutes, hours, days, months, weekdays] = sets as Set<number>[]
  if (weekdays!.has(7)) weekdays!.add(0)
  const isAny = (field: string): boolean => field === '*' || field === '?' || field.startsWith('*/')
  const eitherDay = !isAny(fields[2]!) && !isAny(fields[4]!)

  function isDay(date: Date): boolean {
    const byMonth = days!.has(date.getUTCDate())
    const byWeek = weekdays!.has(date.getUTCDay())
    return months!.has(date.getUTCMonth() + 1) && (eitherDay ? byMonth || byWeek : byMonth && byWeek)
  }

  return {
    next(after) {
      const start = Math.floor(zone.local(after) / DAY_MS) * DAY_MS
      for (let day = 0; day < MAX_DAYS; day++) {
        const midnight = start + day * DAY_MS
        if (!isDay(new Date(midnight))) continue
        for (const hour of hours!) {
          for (const minute of minutes!) {
            const time = zone.utc(midnight + (hour * 60 + minute) * MINUTE_MS)
            if (time !== undefined && time > after) return time
          }
        }
      }
      return undefined
    },
  }
}

function parseEvery(text: string): Schedule | undefined {
  if (!/^(?:\d+[smh])+$/.test(text)) return undefined
  const parts = [...text.matchAll(/(\d+)(s|m|h)/g)]
  const unit: Readonly<Record<string, number>> = { s: 1000, m: MINUTE_MS, h: 60 * MINUTE_MS }
  const ms = Math.max(
    1000,
    parts.reduce((sum, [, count, of]) => sum + Number(count) * unit[of!]!, 0),
  )
  return { next: after => Math.floor(after / 1000) * 1000 + ms }
}

/** The values of a field such as `1-5`, `*\/15`, `mon,wed`. */
function parseField(
  text: string,
  min: number,
  max: number,
  names: readonly string[] = [],
  first = 0,
): Set<number> | undefined {
  const numberOf = (word: string): number | undefined => {
    if (/^\d+$/.test(word)) return Number(word)
    const index = names.indexOf(word.toLowerCase())
    return index === -1 ? undefined : index + first
  }
  const values: number[] = []
  for (const part of text.split(',')) {
    const [range = '', step = '1', ...rest] = part.split('/')
    if (rest.length > 0 || !/^\d+$/.test(step) || Number(step) === 0) return undefined
    const [low = '', high] = range.split('-')
    const isAny = low === '*' || low === '?'
    const from = isAny ? min : numberOf(low)
    const to = isAny ? (max === 7 ? 6 : max) : high === undefined ? (part.includes('/') ? max : from) : numberOf(high)
    if (from === undefined || to === undefined || from < min || to > max || from > to) return undefined
    for (let value = from; value <= to; value += Number(step)) values.push(value)
  }
  return new Set(values.toSorted((a, b) => a - b))
}

/** Times of a zone as if they were UTC, and back. */
interface Zone {
  local(utc: number): number
  /** Undefined for a time that a change of the clock leaves out. */
  utc(local: number): number | undefined
}

function createZone(timeZone: string): Zone | undefined {
  if (timeZone === 'UTC' || timeZone === 'Etc/UTC') return { local: time => time, utc: time => time }
  const format = zoneFormat(timeZone)
  if (format === undefined) return undefined
  const local = (utc: number): number => localTime(format, utc)
  return {
    local,
    utc(time) {
      const first = time - (local(time) - time)
      const guess = time - (local(first) - first)
      return local(guess) === time ? guess : local(first) === time ? first : undefined
    },
  }
}
