// A step of a path into an object, as FieldsV1 writes it: `f:name` is a field, `k:{"name":"a"}` the item of a list with
// that key, `v:"a"` a member of a set, `i:0` an item by its index. The format is canonical: equal steps are equal
// strings.
import { CodecError } from '../../codec/codec-error.js'
import { decodeJson, encodeJson, encodeString, parseNumber } from '../../codec/json.js'
import { compareTexts, printNumber, quote } from '../../meta/go/go-text.js'
import { isNumber, isObject, setOwn, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'

export type PathElement = string
export type FieldPath = readonly PathElement[]

export const fieldElement = (name: string): PathElement => `f:${name}`

/** The fields of a key in the order of their names. */
export const keyElement = (fields: readonly (readonly [name: string, value: Value])[]): PathElement =>
  `k:{${fields.map(([name, value]) => `${encodeString(name)}:${spell(value)}`).join(',')}}`

export const valueElement = (value: Value): PathElement => `v:${spell(value)}`

export const indexElement = (index: number): PathElement => `i:${index}`

/** The name of a field; undefined for other steps. */
export const fieldName = (element: PathElement): string | undefined =>
  element.startsWith('f:') ? element.slice(2) : undefined

export const isKeyElement = (element: PathElement): boolean => element.startsWith('k:')

const spell = (value: Value): string =>
  typeof value === 'string' ? encodeString(value) : encodeJson(value, { sortKeys: true })

/** Steps that are obviously canonical, as nearly all are: one plain value, or a key of one field. */
const PLAIN = /^(?:v:|k:\{"[\w.-]+":)(?:"[ !#-%'-;=?-[\]-~]*"|0|-?[1-9][0-9]{0,14}|true|false)(?<end>\}?)$/

/** Parses a step as a client may have written it; undefined if it is none. */
export function parseElement(text: string): PathElement | undefined {
  if (text.startsWith('f:')) return text
  const plain = PLAIN.exec(text)
  if (plain && (text[0] === 'k') === (plain.groups!['end'] === '}')) return text
  const rest = text.slice(2)
  switch (text.slice(0, 2)) {
    case 'k:': {
      const key = parseValue(rest)
      if (!isObject(key)) return undefined
      return keyElement(Object.entries(key).toSorted(([a], [b]) => compareTexts(a, b)))
    }
    case 'v:': {
      const value = parseValue(rest)
      return value === undefined ? undefined : valueElement(value)
    }
    case 'i:': {
      const index = /^-?[0-9]+$/.test(rest) ? parseNumber(rest.replace(/^(-?)0+(?=[0-9])/, '$1')) : undefined
      return typeof index === 'number' ? indexElement(index) : undefined
    }
    default:
      return undefined
  }
}

function parseValue(text: string): Value | undefined {
  try {
    return decodeJson(Buffer.from(text)).value
  } catch (error) {
    if (error instanceof CodecError) return undefined
    throw error
  }
}

// ---- in messages

/** `.spec.ports[port=80,protocol="TCP"].name` */
export const printPath = (path: FieldPath): string => path.map(printElement).join('')

export function printElement(element: PathElement): string {
  const rest = element.slice(2)
  switch (element[0]) {
    case 'f':
      return `.${rest}`
    case 'k':
      return `[${Object.entries(parseValue(rest) as ValueObject)
        .map(([name, value]) => `${name}=${printValue(value)}`)
        .join(',')}]`
    case 'v':
      return `[=${printValue(parseValue(rest)!)}]`
    default:
      return `[${rest}]`
  }
}

function printValue(value: Value): string {
  if (typeof value === 'string') return quote(value)
  if (isNumber(value)) return printNumber(value)
  if (Array.isArray(value)) return `[${value.map(printValue).join(',')}]`
  if (isObject(value)) {
    return sortedEntries(value)
      .map(([name, member]) => `${name}=${printValue(member)}`)
      .join('')
  }
  return String(value)
}

const sortedEntries = (value: ValueObject): [string, Value][] =>
  Object.entries(value).toSorted(([a], [b]) => compareTexts(a, b))

// ---- order

/** Fields come first, then items by key, members of sets, and positions; each kind in its own order. */
export function sortElements(elements: Iterable<PathElement>): PathElement[] {
  const all = [...elements]
  if (all.length < 2) return all
  if (all.every(element => element[0] === 'f')) return all.toSorted(compareTexts)
  const ofKind: PathElement[][] = [[], [], [], [], []]
  for (const element of all) ofKind[RANKS[element[0]!] ?? 4]!.push(element)
  return ofKind.flatMap(sortOfKind)
}

interface Sortable {
  readonly element: PathElement
  readonly value: Value
}

function sortOfKind(elements: PathElement[]): PathElement[] {
  if (elements.length < 2) return elements
  const sorting = elements.map((element): Sortable => ({ element, value: sortable(element) }))
  return sorting.toSorted(orderOf(sorting)).map(({ element }) => element)
}

/** Lists may be very long, and nearly all have members of one type, which need no general comparison. */
function orderOf(sorting: readonly Sortable[]): (a: Sortable, b: Sortable) => number {
  if (sorting.every(({ value }) => typeof value === 'number')) {
    return (a, b) => (a.value as number) - (b.value as number)
  }
  if (sorting.every(({ value }) => typeof value === 'string')) {
    return (a, b) => compareTexts(a.value as string, b.value as string)
  }
  return (a, b) => compareValues(a.value, b.value)
}

const RANKS: Readonly<Record<string, number>> = { f: 0, k: 1, v: 2, i: 3 }

function sortable(element: PathElement): Value {
  if (element[0] === 'f') return element
  const rest = element.slice(2)
  return PLAIN.test(element) ? (JSON.parse(rest) as Value) : (parseValue(rest) ?? null)
}

function compareValues(a: Value, b: Value): number {
  const byKind = kindRank(a) - kindRank(b)
  if (byKind !== 0) return byKind
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b)
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  if (typeof a === 'boolean') return Number(a) - Number(b)
  if (Array.isArray(a) && Array.isArray(b)) return compareLists(a, b)
  if (isObject(a) && isObject(b)) {
    const [left, right] = [sortedEntries(a), sortedEntries(b)]
    return compareLists(left.flat(), right.flat())
  }
  return 0
}

function compareLists(a: readonly Value[], b: readonly Value[]): number {
  for (const [i, item] of a.entries()) {
    if (i >= b.length) break
    const order = compareValues(item, b[i]!)
    if (order !== 0) return order
  }
  return a.length - b.length
}

function compareNumbers(a: number | bigint | WholeFloat, b: number | bigint | WholeFloat): number {
  const left = a instanceof WholeFloat ? a.value : a
  const right = b instanceof WholeFloat ? b.value : b
  return left < right ? -1 : left > right ? 1 : 0
}

const kindRank = (value: Value): number => {
  if (isNumber(value)) return 0
  if (typeof value === 'string') return 1
  if (typeof value === 'boolean') return 2
  if (Array.isArray(value)) return 3
  return value === null ? 5 : 4
}

/** An object with these members, even if one is `__proto__`. */
export function objectOf(entries: Iterable<readonly [string, Value]>): ValueObject {
  const object: ValueObject = {}
  for (const [name, value] of entries) setOwn(object, name, value)
  return object
}
