// Durations of options and annotations.

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a text such as `1h30m`, Infinity of `never`; undefined if it is no duration. */
export function durationOf(text: string): number | undefined {
  if (text === 'never') return Number.POSITIVE_INFINITY
  if (text === '0') return 0
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)]
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit!]!, 0)
}
