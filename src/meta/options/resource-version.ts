// Resource versions in requests: decimal numbers, or nothing. They are opaque to clients; the server counts them.

import { parsed, type Result } from '../../base/result.js'
import { fieldInvalid, printFieldError } from '../errors/field-errors.js'
import { parseUint64 } from '../go/go-text.js'

/** The requested version of a get, list or watch; 0 if none or `0` is given, which the caller can distinguish. */
export function parseResourceVersion(text: string): Result<bigint> {
  if (text === '' || text === '0') return parsed(0n)
  const version = parseUint64(text)
  return version.ok
    ? version
    : { ok: false, error: printFieldError(fieldInvalid('resourceVersion', text, version.error)) }
}

/** The version in an object's metadata; kube-apiserver returns its parse errors unchanged. */
export const parseObjectVersion = (text: string): Result<bigint> => (text === '' ? parsed(0n) : parseUint64(text))
