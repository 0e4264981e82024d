// Parts of objects that are read and written again and again as they are, such as what says who owns which field. The
// text of such a part is kept beside its value, so that it is neither parsed nor printed a second time, and all objects
// that hold the same text share one value: it is nobody's to change.
import type { ValueObject } from '../../meta/values/value.js'
import { encodeJson } from './encode.js'

export interface KnownPart {
  readonly text: string
  readonly value: ValueObject
}

/** How much text is kept, in each of two generations: what is asked for again stays. Values take some ten times as much. */
const MAX_CHARACTERS = 1 << 20

let young = new Map<string, KnownPart>()
let old = new Map<string, KnownPart>()
let characters = 0

const parts = new WeakMap<ValueObject, KnownPart>()

/** By how they begin, the parts that were used last: a look at one that is likely spares the search for the end. */
const likely = new Map<string, KnownPart>()
const BEGINNING = 64

/** The part that begins at that place of a text, if it is known. */
export function knownPartAt(
  text: string,
  from: number,
  endOf: (text: string, from: number) => number,
): KnownPart | undefined {
  const guess = likely.get(text.slice(from, from + BEGINNING))
  if (guess !== undefined && text.slice(from, from + guess.text.length) === guess.text) return guess
  const spelled = text.slice(from, endOf(text, from))
  const part = young.get(spelled) ?? old.get(spelled)
  if (part !== undefined) keep(part)
  return part
}

/** The text of a part, which from now on is known. */
export function printPart(value: ValueObject): string {
  let part = parts.get(value)
  if (part === undefined) {
    part = { text: encodeJson(value), value }
    parts.set(value, part)
  }
  keep(part)
  return part.text
}

function keep(part: KnownPart): void {
  const { text } = part
  if (text.length > MAX_CHARACTERS) return
  if (!young.has(text)) makeRoom(text.length)
  young.set(text, part)
  likely.set(text.slice(0, BEGINNING), part)
}

function makeRoom(size: number): void {
  if (characters + size > MAX_CHARACTERS) {
    old = young
    young = new Map()
    likely.clear()
    characters = 0
  }
  characters += size
}
