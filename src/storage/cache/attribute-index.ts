// Which entries have which value of an attribute, such as a label: sorted keys for each value. A read by such values
// costs what it finds, not what there is. The index holds keys only; the entries are read from where they are.
//
// Memory is bounded. Of an attribute with too many values, values with the same hash share their keys, and what is found must
// be examined. An attribute that still takes more than its part is no longer indexed: reads by it examine every entry.
// So it is with the attributes that come after so many others.
import { ownText } from '../../base/own-text.js'
import { mergeKeys } from '../common/merge-keys.js'
import { createOrderedKeys, type OrderedKeys } from '../common/ordered-keys.js'
import { compareKeys } from '../keys.js'
import type { AttributeSource, AttributeTerm, CachedEntry, CachedEvent } from './entry-attributes.js'

export interface AttributeIndexLimits {
  /** The approximate bytes that one attribute may take. */
  readonly attributeBytes: number
  /** The approximate bytes of all attributes. */
  readonly bytes: number
  /** How many attributes there may be. What they cost is looked through whenever the bytes are too many. */
  readonly attributes: number
}

export interface AttributeIndex<F> {
  /** Adds an entry that has not been added. */
  add(entry: CachedEntry<F>): void
  apply(event: CachedEvent<F>): void
  /**
   * The keys from `start` to before `end` of the entries that have all terms as far as these are indexed, and of those
   * whose attributes cannot be read. Undefined if none of the terms is indexed. The index must not change meanwhile.
   */
  find(terms: readonly AttributeTerm[], start: string, end: string): FoundKeys | undefined
}

export interface FoundKeys {
  /** In order. */
  readonly keys: Iterable<string>
  /** The entries of these keys have all terms: none must be examined. */
  readonly isExact: boolean
}

export const INDEX_LIMITS: AttributeIndexLimits = {
  attributeBytes: 32 * 2 ** 20,
  bytes: 128 * 2 ** 20,
  attributes: 10_000,
}

/** The approximate bytes of a key in a sorted run, and of a value with its own keys, beside its text. */
const KEY_BYTES = 12
const VALUE_BYTES = 160

/** The keys that have one value. Most values of many labels belong to one key. */
type Keys = string | OrderedKeys

interface Attribute {
  /** By value, or by the hash of it. */
  values: Map<string | number, Keys>
  isHashed: boolean
  bytes: number
}

/** How many hashes there are. */
const HASHES = 65_536

export function createAttributeIndex<F>(source: AttributeSource, limits = INDEX_LIMITS): AttributeIndex<F> {
  const attributes = new Map<string, Attribute>()
  /** Attributes that took too much memory. */
  const dropped = new Set<string>()
  /** There were too many attributes: one that has no values here may have some in the entries. */
  let isFull = false
  /** Entries whose attributes cannot be read: a read must find and report them. */
  const unreadable = createOrderedKeys()
  let bytes = 0

  function grow(name: string, attribute: Attribute, by: number): void {
    attribute.bytes += by
    bytes += by
    if (attribute.bytes > limits.attributeBytes) {
      if (attribute.isHashed) drop(name, attribute)
      else hashValues(name, attribute)
    }
    while (bytes > limits.bytes) drop(...largest())
  }

  /** Values with the same hash share their keys from now on. */
  function hashValues(name: string, attribute: Attribute): void {
    const before = attribute.values
    bytes -= attribute.bytes
    attribute.values = new Map()
    attribute.isHashed = true
    attribute.bytes = 0
    for (const [value, keys] of before) {
      for (const key of typeof keys === 'string' ? [keys] : keys.all()) addValue(name, value as string, key)
    }
  }

  function drop(name: string, attribute: Attribute): void {
    attributes.delete(name)
    bytes -= attribute.bytes
    dropped.add(name)
  }

  const largest = (): [string, Attribute] =>
    [...attributes].reduce((most, each) => (each[1].bytes > most[1].bytes ? each : most))

  function addValue(name: string, value: string, key: string): void {
    if (dropped.has(name)) return
    let attribute = attributes.get(name)
    if (!attribute) {
      isFull ||= attributes.size + dropped.size >= limits.attributes
      if (isFull) return
      attributes.set(ownText(name), (attribute = { values: new Map(), isHashed: false, bytes: 0 }))
    }
    const slot = slotOf(attribute, value)
    const keys = attribute.values.get(slot)
    if (keys === undefined) {
      attribute.values.set(typeof slot === 'string' ? ownText(slot) : slot, key)
      grow(name, attribute, bytesOf(slot, key))
    } else if (typeof keys !== 'string') {
      if (keys.add(key)) grow(name, attribute, KEY_BYTES)
    } else if (keys !== key) {
      const several = createOrderedKeys()
      several.add(keys)
      several.add(key)
      attribute.values.set(slot, several)
      grow(name, attribute, KEY_BYTES)
    }
  }

  function deleteValue(name: string, value: string, key: string): void {
    const attribute = attributes.get(name)
    if (!attribute) return
    const slot = slotOf(attribute, value)
    const keys = attribute.values.get(slot)
    if (keys === undefined) return
    if (typeof keys === 'string' ? keys !== key : !keys.delete(key)) return
    if (typeof keys !== 'string' && keys.size > 0) {
      grow(name, attribute, -KEY_BYTES)
      return
    }
    attribute.values.delete(slot)
    grow(name, attribute, -bytesOf(slot, key))
    if (attribute.values.size > 0) return
    attributes.delete(name)
    bytes -= attribute.bytes
  }

  function valuesOf(entry: CachedEntry<F> | undefined): Readonly<Record<string, string>> | undefined {
    try {
      return entry ? entry.attributes[source] : NO_VALUES
    } catch {
      return undefined
    }
  }

  function replace(key: string, before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>): void {
    for (const name of Object.keys(before)) if (now[name] !== before[name]) deleteValue(name, before[name]!, key)
    for (const name of Object.keys(now)) if (now[name] !== before[name]) addValue(name, now[name]!, key)
  }

  /** The keys of each value of a term. */
  function keysOf({ name, values }: AttributeTerm): Keys[] {
    const attribute = attributes.get(name)
    if (!attribute) return []
    if (!values) return [...attribute.values.values()]
    const slots = new Set(values.map(value => slotOf(attribute, value)))
    return [...slots].map(slot => attribute.values.get(slot)).filter(keys => keys !== undefined)
  }

  /** An entry that is found by a hash may have another value. */
  const isExact = ({ name, values }: AttributeTerm): boolean => !(values && attributes.get(name)?.isHashed)

  const isIndexed = (term: AttributeTerm): boolean =>
    term.source === source && (isFull ? attributes.has(term.name) : !dropped.has(term.name))

  return {
    add(entry) {
      const now = valuesOf(entry)
      if (now) replace(entry.key, NO_VALUES, now)
      else unreadable.add(entry.key)
    },

    apply({ key, previous, entry }) {
      const now = valuesOf(entry)
      unreadable.delete(key)
      if (!now) unreadable.add(key)
      replace(key, valuesOf(previous) ?? NO_VALUES, now ?? NO_VALUES)
    },

    find(terms, start, end) {
      const indexed = terms.filter(isIndexed).map(keysOf)
      if (indexed.length === 0) return undefined
      const counts = indexed.map(keys => keys.reduce((sum, each) => sum + countIn(each, start, end), 0))
      const [fewest] = indexed.splice(counts.indexOf(Math.min(...counts)), 1)
      const others = indexed.filter(sets => sets.length <= MAX_SETS)
      const isComplete = others.length === indexed.length && terms.every(term => isIndexed(term) && isExact(term))
      return {
        keys: matching(merged([...fewest!, unreadable], start, end), others, unreadable),
        isExact: isComplete && unreadable.size === 0,
      }
    },
  }
}

const NO_VALUES: Readonly<Record<string, string>> = {}

/** A term of more values is not looked through for every key that another one finds: the entry is examined instead. */
const MAX_SETS = 16

/** The keys that are also among the keys of every other term. */
function* matching(keys: Iterable<string>, others: readonly Keys[][], unreadable: OrderedKeys): Generator<string> {
  for (const key of keys) {
    if (others.every(term => term.some(each => includes(each, key))) || unreadable.has(key)) yield key
  }
}

const includes = (keys: Keys, key: string): boolean => (typeof keys === 'string' ? keys === key : keys.has(key))

const countIn = (keys: Keys, start: string, end: string): number =>
  typeof keys === 'string' ? 1 : keys.rank(end) - keys.rank(start)

const inRange = (keys: Keys, start: string, end: string): Iterable<string> => {
  if (typeof keys !== 'string') return keys.size > 0 ? keys.keys(start, end) : []
  return compareKeys(keys, start) >= 0 && compareKeys(keys, end) < 0 ? [keys] : []
}

const merged = (sets: readonly Keys[], start: string, end: string): Iterable<string> =>
  mergeKeys(sets.filter(keys => typeof keys === 'string' || keys.size > 0).map(keys => inRange(keys, start, end)))

const slotOf = ({ isHashed }: Attribute, value: string): string | number => (isHashed ? hashOf(value) : value)

/** FNV-1a, folded. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return ((hash >>> 16) ^ hash) & (HASHES - 1)
}

const bytesOf = (slot: string | number, key: string): number =>
  VALUE_BYTES + key.length + (typeof slot === 'string' ? slot.length : 0)
