// Durations of options and annotations.

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/

/** Milliseconds of a text such as `1h30m`, Infinity of `never`; undefined if it is no duration. */
export function durationOf(text: string): number | undefined {
  if (text === 'never') return Number.POSITIVE_INFINITY
  if (text === '0') return 0
  if (!DURATION.test(text)) return undefined
  const parts = [...text.matchAll(/([\d.]+)(ms|s|m|h|d)/g)]
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit!]!, 0)
}
