// Parameters of a request as the API reads them: the first of several values counts, and what is not understood
// is mostly taken for true.

import { parsed, type Result } from '../../base/result.js'
import { parseInt64 } from '../go/go-text.js'
import { parseDuration } from '../values/time.js'

/** The text of a parameter; empty when it is not given. */
export const queryText = (query: URLSearchParams, name: string): string => query.get(name) ?? ''

/** A switch: on by anything but `false` and `0`, also by nothing (`?watch`); undefined when it is not given. */
export function querySwitch(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name)
  return text === null ? undefined : text !== '0' && text.toLowerCase() !== 'false'
}

/** An int64; undefined when it is not given. An empty text is no number. */
export function queryInteger(query: URLSearchParams, name: string): Result<number | undefined> {
  const text = query.get(name)
  if (text === null) return parsed(undefined)
  const integer = parseInt64(text)
  // What is beyond 2^53 is as good as endless for everything that is counted here.
  return integer.ok ? parsed(clamp(integer.value)) : integer
}

/** The time limit that a request sets for itself, in milliseconds; undefined when it sets none. */
export function queryTimeout(query: URLSearchParams): Result<number | undefined> {
  const text = queryText(query, 'timeout')
  if (text === '') return parsed(undefined)
  const duration = parseDuration(text)
  if (!duration.ok) return { ok: false, error: `invalid timeout specified in the request URL - ${duration.error}` }
  return parsed(clamp(duration.value / 1_000_000n))
}

const clamp = (integer: bigint): number =>
  Number(integer > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : integer)
