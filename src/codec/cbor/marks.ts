// Details of the CBOR encoding that the decoded value does not show, but that decoding into a known type needs: whether
// a string was text or bytes, and the keys of each map in their order.

/** A key that is not a string, by the name of its type: `positive integer`. */
export interface ForeignKey {
  readonly type: string
}

/** A text string, or a byte string with a tag for its text encoding, given as base64. Unmarked strings are plain bytes. */
export type CborStringKind = 'text' | { readonly base64: string }

export interface CborMarks {
  /** The keys of each map, in the order of the document. */
  readonly keys: WeakMap<object, readonly (string | ForeignKey)[]>
  /** The strings of each list and map that are not plain byte strings. */
  readonly strings: WeakMap<object, Map<string | number, CborStringKind>>
}

export const newCborMarks = (): CborMarks => ({ keys: new WeakMap(), strings: new WeakMap() })

export function markString(
  { strings }: CborMarks,
  holder: object,
  key: string | number,
  stringKind: CborStringKind,
): void {
  const marked = strings.get(holder)
  if (marked === undefined) strings.set(holder, new Map([[key, stringKind]]))
  else marked.set(key, stringKind)
}
