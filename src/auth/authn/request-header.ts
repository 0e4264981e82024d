// Users that an authenticating proxy names in headers. The caller has verified that the request comes from the proxy.
import type { Identity } from './authenticate.js'

export interface RequestHeaderNames {
  /** Names of headers in lower case; of the user and uid, the first header that is there counts. */
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraPrefixes: readonly string[]
}

/** `rawHeaders` are names and values in turn. Undefined when no header names a user. */
export function userOfHeaders(names: RequestHeaderNames, rawHeaders: readonly string[]): Identity | undefined {
  const valuesOf = (header: string): string[] =>
    rawHeaders.filter((value, i) => i % 2 === 1 && value !== '' && rawHeaders[i - 1]!.toLowerCase() === header)
  const first = (headers: readonly string[]): string => headers.flatMap(valuesOf)[0] ?? ''
  const name = first(names.usernameHeaders)
  if (name === '') return undefined
  return {
    name,
    uid: first(names.uidHeaders),
    groups: names.groupHeaders.flatMap(valuesOf),
    extra: extraOf(names.extraPrefixes, rawHeaders),
  }
}

function extraOf(prefixes: readonly string[], rawHeaders: readonly string[]): Record<string, string[]> {
  const extra: Record<string, string[]> = Object.create(null)
  for (const prefix of prefixes) {
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const header = rawHeaders[i]!.toLowerCase()
      if (header.startsWith(prefix)) (extra[unescapeKey(header.slice(prefix.length))] ??= []).push(rawHeaders[i + 1]!)
    }
  }
  return { ...extra }
}

/** A key that is not percent-encoded properly is taken as it is. */
function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
