// The time, for ages: it moves every second while the page is visible.
import { signal } from '@preact/signals'

export const now = signal(Date.now())

setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 1000)

/** An age as `kubectl` prints it: two units at most, fewer the older it is. */
export function ageOf(timestamp: string | undefined, at: number): string {
  if (timestamp === undefined) return ''
  const seconds = Math.floor((at - Date.parse(timestamp)) / 1000)
  if (Number.isNaN(seconds)) return timestamp
  // Clocks of two machines differ a little.
  if (seconds < 0) return seconds > -3 ? '0s' : 'in the future'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  if (days < 8) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`
  if (days < 730) return `${days}d`
  const years = Math.floor(days / 365)
  return years < 8 && days % 365 !== 0 ? `${years}y${days % 365}d` : `${years}y`
}

/** Both the age and the exact time, for a title. */
export const exactTime = (timestamp: string): string => {
  const date = new Date(timestamp)
  return Number.isNaN(date.getTime()) ? timestamp : `${date.toLocaleString()} (${timestamp})`
}
