// Parts of objects that many objects share and that are rarely changed, such as the entries of managedFields. The text of
// such a part is kept beside its value, so it is neither parsed nor printed a second time, and all objects with the same
// text share one value, which must therefore not be changed.
import { createGenerationCache } from '../../base/generation-cache.js'
import type { ValueObject } from '../../meta/values/value.js'
import { encodeJson } from './encode.js'

export interface InternedPart {
  readonly text: string
  readonly value: ValueObject
}

/** How much text each generation of the cache holds. The values take about ten times as much memory. */
const MAX_CHARACTERS = 1 << 20

const BEGINNING = 64

/** The interned parts of one server. */
export interface InternedParts {
  /** The part that begins at that position of a text, if it is interned. */
  at(text: string, from: number, endOf: (text: string, from: number) => number): InternedPart | undefined
  /** The text of a part, which is interned from then on. */
  print(value: ValueObject): string
}

export function createInternedParts(): InternedParts {
  /** The last used part, by its first characters. Comparing with it avoids the search for the end of the part. */
  const likely = new Map<string, InternedPart>()
  const byText = createGenerationCache<string, InternedPart>({
    maxWeight: MAX_CHARACTERS,
    weigh: ({ text }) => text.length,
    onTurn: () => likely.clear(),
  })
  const byValue = new WeakMap<ValueObject, InternedPart>()
  return {
    at(text, from, endOf) {
      const guess = likely.get(text.slice(from, from + BEGINNING))
      if (guess !== undefined && text.slice(from, from + guess.text.length) === guess.text) return guess
      const part = byText.get(text.slice(from, endOf(text, from)))
      if (part !== undefined) likely.set(part.text.slice(0, BEGINNING), part)
      return part
    },
    print(value) {
      let part = byValue.get(value)
      if (part === undefined) {
        part = { text: encodeJson(value), value }
        byValue.set(value, part)
      }
      const { text } = part
      if (text.length <= MAX_CHARACTERS) {
        byText.set(text, part)
        likely.set(text.slice(0, BEGINNING), part)
      }
      return text
    },
  }
}
