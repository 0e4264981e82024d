// Validity rules of keys, key prefixes, values and revisions, and the order of keys.
import { StorageError } from './storage-error.js'
import type { RangeOptions, ReadAt, Revision } from './store.js'

/** Maximum key size in bytes of UTF-8: enough for group, plural, namespace and name, and within every store's limit. */
export const MAX_KEY_BYTES = 1024

/** Maximum value size in bytes, where a store has no smaller limit of its own. */
export const MAX_VALUE_BYTES = 8 * 1024 * 1024

/** Checks a key: non-empty segments separated by `/`, as in `/configmaps/default/settings`. */
export function checkKey(key: string): void {
  checkPath(key, 'invalid-key', 'key')
  if (key.endsWith('/')) throw new StorageError('invalid-key', `${quote(key)} is not a key: it ends with "/"`)
}

/** Checks a key prefix: `/`, or a path that begins and ends with `/`. */
export function checkPrefix(prefix: string): void {
  checkPath(prefix, 'invalid-prefix', 'prefix')
  if (!prefix.endsWith('/')) {
    throw new StorageError('invalid-prefix', `${quote(prefix)} is not a prefix: it does not end with "/"`)
  }
}

/** Checks the target of a watch: a key prefix or a key. */
export function checkTarget(target: string): void {
  checkPath(target, 'invalid-prefix', 'key or prefix')
}

export function checkValue(value: Uint8Array, maxBytes = MAX_VALUE_BYTES): void {
  if (value.byteLength > maxBytes) {
    throw new StorageError('value-too-large', `a value of ${value.byteLength} bytes is over the limit of ${maxBytes}`)
  }
}

export function checkRevision(revision: Revision): void {
  if (!Number.isSafeInteger(revision) || revision < 0) {
    throw new StorageError('invalid-revision', `${revision} is not a revision: it must be a whole number, 0 or more`)
  }
}

/** Checks the revision that an update or a delete expects. It is the revision of an entry, so never 0. */
export function checkExpected(revision: Revision): void {
  checkRevision(revision)
  if (revision === 0) throw new StorageError('invalid-revision', '0 is not the revision of any entry')
}

export function checkReadAt(at: ReadAt): void {
  if (typeof at === 'object') checkRevision('exactly' in at ? at.exactly : at.notOlderThan)
}

export function checkRange(prefix: string, { at, limit, startAfter }: RangeOptions): void {
  checkPrefix(prefix)
  if (at !== undefined) checkReadAt(at)
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) {
    throw new StorageError('invalid-limit', `${limit} is not a limit: it must be a whole number, 1 or more`)
  }
  if (startAfter !== undefined) {
    checkKey(startAfter)
    if (!startAfter.startsWith(prefix)) {
      throw new StorageError('invalid-key', `cannot start after ${quote(startAfter)}: it is not in ${quote(prefix)}`)
    }
  }
}

/** Every prefix of the key that ends with a slash, shortest first: `/`, `/pods/`, `/pods/default/`. */
export function prefixesOf(key: string): string[] {
  const prefixes: string[] = []
  for (let at = 0; at !== -1; at = key.indexOf('/', at + 1)) prefixes.push(key.slice(0, at + 1))
  return prefixes
}

/** The smallest string that sorts after every key with the prefix. */
export const endOfPrefix = (prefix: string): string => `${prefix.slice(0, -1)}0` // '0' is the character after '/'

/**
 * Keys sort by their UTF-8 bytes in every store. JavaScript compares UTF-16 units, which agrees except where
 * a surrogate pair meets a character from U+E000 to U+FFFF.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return x >= SURROGATES && y >= SURROGATES ? rank(x) - rank(y) : x - y
  }
  return a.length - b.length
}

const SURROGATES = 0xd800
const rank = (unit: number): number => (unit < 0xe000 ? unit + 0x10000 : unit)

function checkPath(path: string, code: 'invalid-key' | 'invalid-prefix', what: string): void {
  if (typeof path !== 'string' || !path.startsWith('/')) {
    throw new StorageError(code, `${quote(path)} is not a ${what}: it does not begin with "/"`)
  }
  if (path.includes('//')) throw new StorageError(code, `${quote(path)} is not a ${what}: a segment is empty`)
  if (path.includes('\0') || !path.isWellFormed()) {
    throw new StorageError(code, `${quote(path)} is not a ${what}: it holds a NUL or half a surrogate pair`)
  }
  // A UTF-16 unit takes at most 3 bytes, so only long paths need to be measured.
  if (path.length * 3 > MAX_KEY_BYTES && Buffer.byteLength(path) > MAX_KEY_BYTES) {
    throw new StorageError('key-too-large', `a ${what} of ${Buffer.byteLength(path)} bytes is over ${MAX_KEY_BYTES}`)
  }
}

const quote = (text: unknown): string => JSON.stringify(text) ?? String(text)
