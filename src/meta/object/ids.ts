// What the server invents for a new object: its uid, and the end of a generated name. Passed in, so that a run without a
// server can choose both.
import { randomInt, randomUUID } from 'node:crypto'

export interface IdGenerator {
  uid(): string
  /** The characters that follow `generateName`. */
  nameSuffix(): string
}

export const RANDOM_IDS: IdGenerator = {
  uid: () => randomUUID(),
  nameSuffix() {
    let suffix = ''
    for (let i = 0; i < NAME_SUFFIX_LENGTH; i++) suffix += SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)]
    return suffix
  },
}

export const NAME_SUFFIX_LENGTH = 5
/** No vowels and no digits that look like them, so that no words appear. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
