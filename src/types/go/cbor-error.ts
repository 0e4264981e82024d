// Errors of values that were decoded from CBOR and are not of their type, with the messages of fxamacker/cbor. Unlike
// those of JSON, they name only the outermost field, no unknown fields, and stop at the first unknown field.
import type { CborMarks, CborStringKind, ForeignKey } from '../../codec/cbor.js'
import { isInteger, isNumber, isObject, type Value } from '../../meta/values/value.js'

/** The document that is being decoded, and its type. */
export interface CborSource {
  readonly root: Value
  readonly marks: CborMarks
  /** `v1.ConfigMap` */
  readonly goType: string
}

/** Kinds of Go types whose messages have more than a name. */
export type Target = 'struct' | 'integer' | undefined

type Path = readonly (string | number)[]

/** `what` names the type of a value that is a document of its own, and therefore has no mark. */
export function cborMismatch(
  source: CborSource,
  path: Path,
  value: Value,
  goType: string,
  target?: Target,
  what = typeName(value, typeof value === 'string' && stringForm(source, path) === 'text'),
): string {
  return cannotUnmarshal(source, path, what, goType, noteOn(value, goType, target))
}

function cannotUnmarshal(
  { goType: outermost }: CborSource,
  path: Path,
  what: string,
  goType: string,
  note = '',
): string {
  const where = path.length === 0 ? 'value' : `struct field ${outermost}.${path[0]}`
  return `cbor: cannot unmarshal ${what} into Go ${where} of type ${goType}${note === '' ? '' : ` (${note})`}`
}

function typeName(value: Value, isText: boolean): string {
  if (typeof value === 'string') return isText ? 'UTF-8 text string' : 'byte string'
  if (Array.isArray(value)) return 'array'
  if (isObject(value)) return 'map'
  if (isInteger(value)) return value < 0 ? 'negative integer' : 'positive integer'
  return 'primitives'
}

function noteOn(value: Value, goType: string, target: Target): string {
  if (target === 'struct' && Array.isArray(value)) return 'cannot decode CBOR array to struct without toarray option'
  if (!isInteger(value)) return ''
  if (value < -(2n ** 63n)) return `${value} overflows Go's int64`
  return target === 'integer' ? `${value} overflows ${goType}` : ''
}

/** How the string at that path was written, if not as plain bytes. */
export function stringForm({ root, marks }: CborSource, path: Path): CborStringKind | undefined {
  const holder = at(root, path.slice(0, -1))
  return isHolder(holder) ? marks.strings.get(holder)?.get(path.at(-1)!) : undefined
}

/** The error of keys that are no strings, for a map in Go. */
export function foreignMapKey(source: CborSource, path: Path, map: Value): string | undefined {
  const key = keysOf(source, map).find(isForeign)
  return key && cannotUnmarshal(source, path, key.type, 'string')
}

/** The same for a struct. Integers could be names of fields, so that they are only unknown fields. */
export function foreignFieldKey(source: CborSource, path: Path, map: Value): string | undefined {
  const key = keysOf(source, map).find(candidate => isForeign(candidate) && !isIntegerKey(candidate))
  if (key === undefined || typeof key === 'string') return undefined
  const note = `map key is of type ${key.type} and cannot be used to match struct field name`
  return cannotUnmarshal(source, path, key.type, 'string', note)
}

/** Whether a map has integer keys; no field has such a name. */
export const hasIntegerKey = (source: CborSource, map: Value): boolean => keysOf(source, map).some(isIntegerKey)

/**
 * The one unknown field that is reported: a struct's own come before those within its fields, and of these the first.
 * `INTEGER_KEY` at the end of a path stands for any integer key.
 */
export function unknownField(source: CborSource, paths: readonly Path[]): string {
  let among = paths
  for (let depth = 1; ; depth++) {
    const own = among.filter(path => path.length === depth)
    if (own.length > 0) return `cbor: found unknown field at map element index ${firstIndex(source, own)}`
    const step = among[0]![depth - 1]
    among = among.filter(path => path[depth - 1] === step)
  }
}

/** Stands for integer keys in paths; their values are not known. */
export const INTEGER_KEY = -1

function firstIndex(source: CborSource, siblings: readonly Path[]): number {
  const keys = keysOf(source, at(source.root, siblings[0]!.slice(0, -1)))
  const names = new Set(siblings.map(path => path.at(-1)))
  return keys.findIndex(key => names.has(isForeign(key) ? INTEGER_KEY : key))
}

function keysOf({ marks }: CborSource, map: Value | undefined): readonly (string | ForeignKey)[] {
  if (!isHolder(map)) return []
  return marks.keys.get(map) ?? Object.keys(map)
}

const isForeign = (key: string | ForeignKey): key is ForeignKey => typeof key !== 'string'
const isIntegerKey = (key: string | ForeignKey): boolean => isForeign(key) && key.type.endsWith('integer')

const isHolder = (value: Value | undefined): value is Value & object =>
  typeof value === 'object' && value !== null && !isNumber(value)

function at(root: Value, path: Path): Value | undefined {
  let value: Value | undefined = root
  for (const step of path) {
    if (!isHolder(value)) return undefined
    value = (value as Record<string | number, Value>)[step]
  }
  return value
}
