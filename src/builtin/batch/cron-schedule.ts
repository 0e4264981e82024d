// Schedules in the form of cron: five fields, or a word for a usual schedule; a time zone may stand in front.
import { quote } from '../../meta/go/go-text.js'
import { parseDuration } from '../../meta/values/time.js'

/** The first error of a schedule from left to right; undefined for a valid one. */
export function checkSchedule(schedule: string): string | undefined {
  const zone = /^(?:CRON_)?TZ=([^ ]*)(.*)$/s.exec(schedule)
  if (zone === null) return checkFields(schedule)
  const [, name = '', rest = ''] = zone
  const start = schedule.indexOf('=') + 1
  // kube-apiserver reports the panic of its cron library.
  if (rest === '') return `invalid schedule format: runtime error: slice bounds out of range [${start}:-1]`
  return isTimeZone(name) ? checkFields(rest.trim()) : `provided bad location ${name}: unknown time zone ${name}`
}

export function isTimeZone(name: string): boolean {
  // Intl accepts offsets such as +01:00, which are not in the database of time zones.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    return true
  } catch {
    return false
  }
}

function checkFields(schedule: string): string | undefined {
  if (schedule.startsWith('@')) return checkDescriptor(schedule)
  const fields = schedule.trim().split(/\s+/)
  if (fields.length !== FIELDS.length) {
    return `expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`
  }
  for (const [i, field] of FIELDS.entries()) {
    for (const range of fields[i]!.split(',').filter(part => part !== '')) {
      const error = checkRange(range, field)
      if (error !== undefined) return error
    }
  }
  return undefined
}

const DESCRIPTORS = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'])
const EVERY = '@every '

function checkDescriptor(schedule: string): string | undefined {
  if (DESCRIPTORS.has(schedule)) return undefined
  if (!schedule.startsWith(EVERY)) return `unrecognized descriptor: ${schedule}`
  const duration = parseDuration(schedule.slice(EVERY.length))
  return duration.ok ? undefined : `failed to parse duration ${schedule}: ${duration.error}`
}

interface Field {
  readonly min: number
  readonly max: number
  /** Names that stand for the numbers from `min` on. */
  readonly names?: readonly string[]
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const FIELDS: readonly Field[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
]

/** `*`, `5`, `1-5`, each with or without a step: `1-5/2`. */
function checkRange(text: string, field: Field): string | undefined {
  const [range = '', step, ...more] = text.split('/')
  const [low = '', high, ...rest] = range.split('-')
  let [start, end] = [field.min, field.max]
  if (low !== '*' && low !== '?') {
    const first = parseNumber(low, field)
    if (typeof first === 'string') return first
    const last = high === undefined ? first : parseNumber(high, field)
    if (rest.length > 0) return `too many hyphens: ${text}`
    if (typeof last === 'string') return last
    start = first
    // A number with a step is a range up to the end.
    end = high === undefined && step !== undefined ? field.max : last
  }
  if (more.length > 0) return `too many slashes: ${text}`
  const every = step === undefined ? 1 : parseNumber(step)
  if (typeof every === 'string') return every
  if (start < field.min) return `beginning of range (${start}) below minimum (${field.min}): ${text}`
  if (end > field.max) return `end of range (${end}) above maximum (${field.max}): ${text}`
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${text}`
  return every === 0 ? `step of range should be a positive number: ${text}` : undefined
}

/** The number, or the error. */
function parseNumber(text: string, field?: Field): number | string {
  const named = field?.names?.indexOf(text.toLowerCase()) ?? -1
  if (field !== undefined && named !== -1) return field.min + named
  if (!/^[+-]?\d+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: invalid syntax`
  }
  const number = Number(text)
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number
}
