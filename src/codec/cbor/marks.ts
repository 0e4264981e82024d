// What the plain value that was read from CBOR no longer shows, but a reader that knows the type it wants asks for:
// whether a string was of text or of bytes, and which keys a map had, in which order.

/** A key that is no string, by the name of its type: `positive integer`. */
export interface ForeignKey {
  readonly type: string
}

/** A string that was text, or bytes with a tag that says how to spell them, given as base64. Others are plain bytes. */
export type StringForm = 'text' | { readonly base64: string }

export interface CborMarks {
  /** The keys of each map as the document has them. */
  readonly keys: WeakMap<object, readonly (string | ForeignKey)[]>
  /** The strings of each list and map that are not plain bytes. */
  readonly strings: WeakMap<object, Map<string | number, StringForm>>
}

export const newCborMarks = (): CborMarks => ({ keys: new WeakMap(), strings: new WeakMap() })

export function markString({ strings }: CborMarks, holder: object, key: string | number, form: StringForm): void {
  const marked = strings.get(holder)
  if (marked === undefined) strings.set(holder, new Map([[key, form]]))
  else marked.set(key, form)
}
