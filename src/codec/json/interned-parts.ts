// Parts of objects that many objects share and that are rarely changed, such as the entries of managedFields. The text of
// such a part is kept beside its value, so it is neither parsed nor printed a second time, and all objects with the same
// text share one value, which must therefore not be changed.
import { createGenerationCache } from '../../base/generation-cache.js'
import type { ValueObject } from '../../meta/values/value.js'
import { encodeJson } from './encode.js'

export interface KnownPart {
  readonly text: string
  readonly value: ValueObject
}

/** How much text each generation of the cache holds. The values take about ten times as much memory. */
const MAX_CHARACTERS = 1 << 20

/** By the first characters: the part that was used last. A comparison with it spares the search for the end. */
const likely = new Map<string, KnownPart>()
const BEGINNING = 64

const byText = createGenerationCache<string, KnownPart>({
  maxWeight: MAX_CHARACTERS,
  weigh: ({ text }) => text.length,
  onTurn: () => likely.clear(),
})
const byValue = new WeakMap<ValueObject, KnownPart>()

/** The part that begins at that position of a text, if it is known. */
export function knownPartAt(
  text: string,
  from: number,
  endOf: (text: string, from: number) => number,
): KnownPart | undefined {
  const guess = likely.get(text.slice(from, from + BEGINNING))
  if (guess !== undefined && text.slice(from, from + guess.text.length) === guess.text) return guess
  const part = byText.get(text.slice(from, endOf(text, from)))
  if (part !== undefined) likely.set(part.text.slice(0, BEGINNING), part)
  return part
}

/** The text of a part, which is known from then on. */
export function printPart(value: ValueObject): string {
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
}
