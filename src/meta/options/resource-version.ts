// Resource versions as clients send them: decimal numbers, or nothing. To clients they are opaque; the server counts.

import { parsed, type Result } from '../../base/result.js'
import { fieldInvalid, printFieldError } from '../errors/field-errors.js'
import { parseUint64 } from '../go/go-text.js'

/** The version asked for by a get, list or watch; 0 when none or `0` is given, which the caller can tell apart. */
export function parseResourceVersion(text: string): Result<bigint> {
  if (text === '' || text === '0') return parsed(0n)
  const version = parseUint64(text)
  return version.ok
    ? version
    : { ok: false, error: printFieldError(fieldInvalid('resourceVersion', text, version.error)) }
}

/** The version in an object's metadata, whose faults the reference server does not dress up. */
export const parseObjectVersion = (text: string): Result<bigint> => (text === '' ? parsed(0n) : parseUint64(text))
