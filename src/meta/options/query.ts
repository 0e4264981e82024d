// Query parameters as the API reads them: the first of several values is used, and an unknown value of a switch counts
// as true.

import { parsed, type Result } from '../../base/result.js'
import { parseInt64 } from '../go/go-text.js'
import { parseDuration } from '../values/time.js'

/** The value of a parameter; empty if it is not given. */
export const queryText = (query: URLSearchParams, name: string): string => query.get(name) ?? ''

/** A switch: true for any value but `false` and `0`, also without one (`?watch`); undefined if it is not given. */
export function querySwitch(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name)
  return text === null ? undefined : text !== '0' && text.toLowerCase() !== 'false'
}

/** An int64; undefined if it is not given. An empty value is an error. */
export function queryInteger(query: URLSearchParams, name: string): Result<number | undefined> {
  const text = query.get(name)
  if (text === null) return parsed(undefined)
  const integer = parseInt64(text)
  // A number beyond 2^53 has the same effect as the largest one.
  return integer.ok ? parsed(clamp(integer.value)) : integer
}

/** The `timeout` parameter in milliseconds; undefined if it is not given. */
export function queryTimeout(query: URLSearchParams): Result<number | undefined> {
  const text = queryText(query, 'timeout')
  if (text === '') return parsed(undefined)
  const duration = parseDuration(text)
  if (!duration.ok) return { ok: false, error: `invalid timeout specified in the request URL - ${duration.error}` }
  return parsed(clamp(duration.value / 1_000_000n))
}

const clamp = (integer: bigint): number =>
  Number(integer > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : integer)
