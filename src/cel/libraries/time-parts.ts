// The parts of timestamps, in UTC or a time zone, and of durations.
import { localTime, zoneFormat } from '../../base/time-zone.js'
import { CelError, isError } from '../cel-error.js'
import { DURATION, INT, STRING, TIMESTAMP } from '../check/cel-type.js'
import type { WorkBudget } from '../cost/work-budget.js'
import type { FunctionDeclaration, Overload } from '../environment.js'
import type { Duration, Timestamp } from '../values/moments.js'
import { intOf } from '../values/numbers.js'

/** `part` gets a date whose UTC parts are those of the zone. */
const ofTimestamp = (id: string, part: (local: Date, time: Timestamp) => number): Overload[] => [
  {
    id,
    member: true,
    params: [TIMESTAMP],
    result: INT,
    call: time => part(new Date((time as Timestamp).seconds * 1000), time as Timestamp),
  },
  {
    // One of the ids is spelled unlike the others.
    id: id === 'timestamp_to_seconds' ? `${id}_tz` : `${id}_with_tz`,
    member: true,
    params: [TIMESTAMP, STRING],
    result: INT,
    countedCall: (budget, time, zone) => {
      const offset = zoneOffset(budget, zone as string, (time as Timestamp).seconds)
      if (isError(offset)) return offset
      return part(new Date(((time as Timestamp).seconds + offset) * 1000), time as Timestamp)
    },
  },
]

const ofDuration = (id: string, nanosPerUnit: bigint): Overload => ({
  id,
  member: true,
  params: [DURATION],
  result: INT,
  call: duration => intOf((duration as Duration).nanos / nanosPerUnit),
})

const part = (name: string, id: string, read: (local: Date, time: Timestamp) => number, extra: Overload[] = []) => ({
  name,
  overloads: [...ofTimestamp(id, read), ...extra],
})

export const TIME_PARTS: readonly FunctionDeclaration[] = [
  part('getFullYear', 'timestamp_to_year', local => local.getUTCFullYear()),
  part('getMonth', 'timestamp_to_month', local => local.getUTCMonth()),
  part('getDayOfYear', 'timestamp_to_day_of_year', local => {
    const first = new Date(0)
    first.setUTCFullYear(local.getUTCFullYear(), 0, 1)
    return Math.floor((local.getTime() - first.getTime()) / 86_400_000)
  }),
  part('getDayOfMonth', 'timestamp_to_day_of_month', local => local.getUTCDate() - 1),
  part('getDate', 'timestamp_to_day_of_month_1_based', local => local.getUTCDate()),
  part('getDayOfWeek', 'timestamp_to_day_of_week', local => local.getUTCDay()),
  part('getHours', 'timestamp_to_hours', local => local.getUTCHours(), [
    ofDuration('duration_to_hours', 3_600_000_000_000n),
  ]),
  part('getMinutes', 'timestamp_to_minutes', local => local.getUTCMinutes(), [
    ofDuration('duration_to_minutes', 60_000_000_000n),
  ]),
  part('getSeconds', 'timestamp_to_seconds', local => local.getUTCSeconds(), [
    ofDuration('duration_to_seconds', 1_000_000_000n),
  ]),
  part('getMilliseconds', 'timestamp_to_milliseconds', (_local, time) => Math.floor(time.nanos / 1_000_000), [
    ofDuration('duration_to_milliseconds', 1_000_000n),
  ]),
]

/** Seconds east of UTC at that moment. */
function zoneOffset(budget: WorkBudget, zone: string, seconds: number): number | CelError {
  const colon = zone.indexOf(':')
  if (colon < 0) return namedOffset(budget, zone, seconds)
  const hours = atoi(zone.slice(0, colon))
  if (isError(hours)) return hours
  const minutes = atoi(zone.slice(colon + 1))
  if (isError(minutes)) return minutes
  return (zone.startsWith('-') ? hours * 60 - minutes : hours * 60 + minutes) * 60
}

function atoi(text: string): number | CelError {
  return /^[+-]?[0-9]{1,9}$/.test(text)
    ? Number(text)
    : new CelError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
}

/** 1800. Before 1582 JavaScript's dates of a time zone are Julian. */
const FIRST_CHANGE = -5_364_662_400

const MAX_KEPT = 100
const formats = new Map<string, Intl.DateTimeFormat>()

function namedOffset(budget: WorkBudget, zone: string, seconds: number): number | CelError {
  if (zone === '' || zone === 'UTC') return 0
  if (zone === 'Local') return -new Date(seconds * 1000).getTimezoneOffset() * 60
  budget.charge(220)
  const format = knownFormat(budget, zone)
  if (format === undefined) return new CelError(`unknown time zone ${zone}`)
  // Dates before the first change of any zone's time have the offset that it then had.
  const moment = Math.max(seconds, FIRST_CHANGE) * 1000
  return (localTime(format, moment) - moment) / 1000
}

function knownFormat(budget: WorkBudget, zone: string): Intl.DateTimeFormat | undefined {
  const known = formats.get(zone)
  if (known) return known
  // Names are as in the time zone database, capital letters included; offsets are not names.
  if (!/^[A-Z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/.test(zone)) return undefined
  budget.charge(600)
  const format = zoneFormat(zone)
  if (format === undefined) return undefined
  if (formats.size >= MAX_KEPT) formats.clear()
  formats.set(zone, format)
  return format
}
