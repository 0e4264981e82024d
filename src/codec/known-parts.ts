// Parts of objects that are read and written again and again as they are, such as what says who owns which field. The
// text of such a part is kept beside its value, so that it is neither parsed nor printed a second time, and all objects
// that hold the same text share one value: it is nobody's to change.
import type { ValueObject } from '../meta/value.js'
import { encodeJson } from './json-encode.js'

/** How much text is kept: two generations of it, so that what is asked for again stays. A value takes some ten times as much. */
const MOST_CHARACTERS = 1 << 20

const texts = new WeakMap<ValueObject, string>()
let young = new Map<string, ValueObject>()
let old = new Map<string, ValueObject>()
let characters = 0

/** The value that was last printed as this text. */
export function knownPart(text: string): ValueObject | undefined {
  const recent = young.get(text)
  if (recent !== undefined) return recent
  const value = old.get(text)
  if (value === undefined) return undefined
  // The text at hand is a slice of a longer one, which it would keep alive.
  keep(texts.get(value) ?? encodeJson(value), value)
  return value
}

/** The text of a part, which from now on is known. */
export function printPart(value: ValueObject): string {
  const known = texts.get(value)
  if (known !== undefined) return known
  const text = encodeJson(value)
  texts.set(value, text)
  if (text.length <= MOST_CHARACTERS) keep(text, value)
  return text
}

function keep(text: string, value: ValueObject): void {
  if (characters + text.length > MOST_CHARACTERS) {
    old = young
    young = new Map()
    characters = 0
  }
  young.set(text, value)
  characters += text.length
}
