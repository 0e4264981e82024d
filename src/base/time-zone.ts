// The time of day in a time zone, by the database of Node.

/** Undefined if there is no such zone. Making one takes long: keep it. */
export function zoneFormat(zone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
}

/** The time in the zone as if it were UTC, in milliseconds; parts of a second are dropped. */
export function localTime(format: Intl.DateTimeFormat, milliseconds: number): number {
  const parts = new Map<string, number>()
  for (const { type, value } of format.formatToParts(milliseconds)) parts.set(type, Number(value))
  const get = (type: string): number => parts.get(type) ?? 0
  const local = new Date(0)
  local.setUTCFullYear(get('year'), get('month') - 1, get('day'))
  local.setUTCHours(get('hour'), get('minute'), get('second'))
  return local.getTime()
}
