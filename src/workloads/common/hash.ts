// Short names made of a hash, in letters that spell no words.

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/** FNV-1a of 32 bits. */
function fnv32a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

/** FNV-1 of 32 bits. */
function fnv32(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  for (const byte of bytes) hash = Math.imul(hash, 0x01000193) ^ byte
  return hash >>> 0
}

/** The hash of a ControllerRevision, as Kubernetes computes it of the JSON that Go prints, so that names are the same. */
export const revisionHash = (data: unknown, collisions: number): string => {
  const json = sortedJson(data).replaceAll(
    /[<>&\u2028\u2029]/g,
    each => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return safeEncode(String(fnv32(Buffer.from(`${json}${collisions}`))))
}

/** A text in letters that can be part of a name. */
const safeEncode = (text: string): string =>
  Array.from(text, each => LETTERS[each.codePointAt(0)! % LETTERS.length]).join('')

/** The hash of a value; the same for values that differ only in the order of their members. */
export const hashOf = (value: unknown, collisions = 0): string =>
  safeEncode(String(fnv32a(Buffer.from(`${sortedJson(value)}${collisions === 0 ? '' : collisions}`))))

/** JSON with the members of objects in order of their names. */
const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
