// The continue token of a list: the end of the last page and the revision of the list. Clients should return it
// unchanged, but it must be validated like any other input.

import { failed, parsed, type Result } from '../../base/result.js'
import { badRequest, expired, type StatusError } from '../errors/status.js'
import { printJson, quoteRune } from '../go/go-text.js'

export interface ContinueToken {
  /** The revision at which all pages are read. Negative: the latest, without consistency. */
  readonly revision: number
  /** The last key of the previous page, relative to the key prefix of the list: `name`, or `namespace/name`. */
  readonly startAfter: string
}

/** URL-safe base64 without padding of `{"v":"meta.k8s.io/v1","rv":…,"start":…}`; `start` is the key after the last. */
export function encodeContinue({ revision, startAfter }: ContinueToken): string {
  const json = printJson({ v: VERSION, rv: revision, start: `${startAfter}\0` }, { keepOrder: true })
  return Buffer.from(json).toString('base64url')
}

/** Decodes a token. The error is the complete message of the 400 response. */
export function decodeContinue(text: string): Result<ContinueToken> {
  const stray = /[^-_A-Za-z0-9\r\n]/.exec(text)
  if (stray !== null) return bad(`: illegal base64 data at input byte ${Buffer.byteLength(text.slice(0, stray.index))}`)
  const digits = text.replace(/[\r\n]/g, '')
  if (digits.length % 4 === 1) return bad(`: illegal base64 data at input byte ${digits.length - 1}`)
  const json = Buffer.from(digits, 'base64url')
  const token = readToken(json)
  if (!token.ok) return bad(`: ${token.error}`)
  const { v, rv, start } = token.value
  if (v !== VERSION) return bad(`: server does not recognize this encoded version ${v}`)
  if (rv === 0) return bad(': incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  if (start === '') return bad(': encoded start key empty (version meta.k8s.io/v1)')
  // A key with `..` could reach objects that the client must not see.
  const segments = (start.startsWith('/') ? start.slice(1) : start).split('/')
  if (segments.some(segment => segment === '' || segment === '.' || segment === '..')) return bad(`: ${start}`)
  // The key after which a list continues is the next possible one: a NUL is appended to it.
  const startAfter = segments.join('/').replace(/\0$/, '')
  if (startAfter === '' || !canBeKey(startAfter)) return bad(`: ${start}`)
  return parsed({ revision: rv, startAfter })
}

/** Decodes the token of a list request, which must not have a resourceVersion as well. */
export function readContinue(text: string, resourceVersion: string): ContinueToken {
  const token = decodeContinue(text)
  if (!token.ok) throw badRequest(token.error)
  if (resourceVersion !== '' && resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue')
  }
  return token.value
}

/** The revision of the requested page is compacted; `token` allows the client to continue without consistency. */
export const continueExpired = (token: ContinueToken): StatusError =>
  expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    encodeContinue({ revision: -1, startAfter: token.startAfter }),
  )

/** A list at an exact revision that is compacted. */
export const listExpired = (): StatusError => expired('The resourceVersion for the provided list is too old.')

/** Whether anything can be stored under such a name. */
export const canBeKey = (text: string): boolean =>
  !text.includes('\0') && text.isWellFormed() && Buffer.byteLength(text) <= MAX_NAME_BYTES

/** Names and namespaces are shorter. */
const MAX_NAME_BYTES = 600

const VERSION = 'meta.k8s.io/v1'

const bad = (why: string): Result<never> => failed(`invalid continue token: continue key is not valid${why}`)

interface RawToken {
  readonly v: string
  readonly rv: number
  readonly start: string
}

/** JSON with the few members that matter; errors have the messages of Go's decoder where that is cheap. */
function readToken(json: Buffer): Result<RawToken> {
  const text = json.toString()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const first = /[^ \t\r\n]/.exec(json.toString('latin1'))?.[0]
    if (first === undefined) return failed('unexpected end of JSON input')
    return failed(
      '{["-0123456789tfn'.includes(first)
        ? 'unexpected end of JSON input'
        : `invalid character ${quoteRune(first)} looking for beginning of value`,
    )
  }
  if (value === null) return parsed({ v: '', rv: 0, start: '' })
  if (typeof value !== 'object' || Array.isArray(value)) {
    return failed(
      `json: cannot unmarshal ${Array.isArray(value) ? 'array' : goType(value)} into Go value of type storage.continueToken`,
    )
  }
  const raw = value as Record<string, unknown>
  const v = raw['v'] ?? ''
  const rv = raw['rv'] ?? 0
  const start = raw['start'] ?? ''
  if (typeof v !== 'string') return failed(mistyped(v, 'v', 'string'))
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv)) return failed(mistyped(rv, 'rv', 'int64'))
  if (typeof start !== 'string') return failed(mistyped(start, 'start', 'string'))
  return parsed({ v, rv, start })
}

const mistyped = (value: unknown, field: string, type: string): string =>
  `json: cannot unmarshal ${goType(value)} into Go struct field continueToken.${field} of type ${type}`

const goType = (value: unknown): string => {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : value === null ? 'null' : typeof value
}
