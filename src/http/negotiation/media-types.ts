// Parses the media types of request headers as kube-apiserver does: Accept is split at its punctuation and compared as
// text, Content-Type is parsed by the rules of MIME.

/** One of the types in an Accept header. */
export interface AcceptedType {
  readonly type: string
  readonly subtype: string
  /** Without the quality. */
  readonly parameters: ReadonlyMap<string, string>
  readonly quality: number
}

/** So many types of an Accept header are looked at: they are sorted in quadratic time. */
const MAX_TYPES = 1_000

/** The types of an Accept header, the preferred one first. Invalid ones are ignored. */
export function parseAccept(header: string): AcceptedType[] {
  const types: AcceptedType[] = []
  for (const part of header.split(',', MAX_TYPES)) {
    const [range = '', ...rest] = part.trim().split(';')
    const [type = '', subtype = '', ...more] = range.split('/').map(text => text.trim())
    const isAnything = type === '*' && subtype === ''
    if (more.join('/') !== '' || (subtype === '' && !isAnything)) continue
    types.push({ type, subtype: isAnything ? '*' : subtype, ...parseParameters(rest) })
  }
  return inOrder(types)
}

function parseParameters(parts: readonly string[]): Pick<AcceptedType, 'parameters' | 'quality'> {
  const parameters = new Map<string, string>()
  let quality = 1
  for (const part of parts) {
    const [name = '', value = '', ...more] = part.split('=')
    if (value === '' || more.join('=') !== '') continue
    if (name.trim() === 'q') quality = parseQuality(value)
    else parameters.set(name.trim(), value.trim())
  }
  return { parameters, quality }
}

/** An invalid quality counts as 0. A quality of 0 does not exclude a type; it is only the last choice. */
const parseQuality = (text: string): number => (QUALITY.test(text) ? Number(text) : 0)

const QUALITY = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i

/**
 * Sorts by insertion: by quality, then types that are named before wildcards. The order is not a proper one, since a
 * type that is named comes before a wildcard of higher quality if it stands behind it; so the way of sorting matters.
 */
function inOrder(types: AcceptedType[]): AcceptedType[] {
  for (let i = 1; i < types.length; i++) {
    for (let j = i; j > 0 && isBefore(types[j]!, types[j - 1]!); j--) {
      const moved = types[j]!
      types[j] = types[j - 1]!
      types[j - 1] = moved
    }
  }
  return types
}

const isBefore = (a: AcceptedType, b: AcceptedType): boolean =>
  a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*')

// ---- Content-Type

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const MEDIA_TYPE = new RegExp(`^\\s*(${TOKEN}(?:/${TOKEN})?)\\s*((?:;.*)?)$`, 's')
const PARAMETER = new RegExp(`\\s*;\\s*(${TOKEN})\\s*=\\s*(?:${TOKEN}|"(?:[^"\\\\\\r\\n]|\\\\.)*")`, 'y')

/** The type in lower case, without its parameters; undefined when the header is not well formed. */
export function parseContentType(header: string): string | undefined {
  const [, type, parameters = ''] = MEDIA_TYPE.exec(header) ?? []
  return type !== undefined && areParameters(parameters) ? type.toLowerCase() : undefined
}

function areParameters(text: string): boolean {
  const names = new Set<string>()
  let at = 0
  while (text.slice(at).trim() !== '') {
    PARAMETER.lastIndex = at
    const found = PARAMETER.exec(text)
    if (!found) return text.slice(at).trim() === ';'
    const name = found[1]!.toLowerCase()
    if (names.has(name)) return false
    names.add(name)
    at = PARAMETER.lastIndex
  }
  return true
}
