// Embedded resources: their apiVersion and kind must be texts and their metadata what Go reads as ObjectMeta. What
// metadata do not have is dropped and named. Reading from storage drops what does not fit instead of refusing it.
import { childPath, type FieldError, fieldInvalid, indexPath, keyPath } from '../../meta/errors/field-errors.js'
import { isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { decodeObjectMeta, decodeStoredObjectMeta } from '../../types/object-meta.js'
import { partsWith } from '../structure/parts.js'
import type { Schema } from '../structure/structural.js'
import { isTypeOrMetadata } from './prune.js'

export interface CoerceOptions {
  /** The value is a resource itself, whatever its schema says. */
  readonly isResource?: boolean
  /** Drop members that do not fit, as is done to what comes from storage. */
  readonly dropInvalid?: boolean
  /** Where the value stands, for faults. */
  readonly at?: string
}

export interface Coerced {
  /** Paths of unknown fields of embedded metadata. */
  readonly unknown: readonly string[]
  /** The first thing that does not fit. */
  readonly error?: FieldError
}

/** Coerces in place. */
export function coerceEmbedded(value: Value, schema: Schema, options: CoerceOptions = {}): Coerced {
  const { isResource = false, dropInvalid: dropMisfits = false, at = '' } = options
  const run: Run = { unknown: [], dropInvalid: dropMisfits }
  const error = walk(value, schema, at, at, isResource, run)
  return error === undefined ? { unknown: run.unknown } : { unknown: run.unknown, error }
}

interface Run {
  readonly unknown: string[]
  readonly dropInvalid: boolean
}

/** `fieldPath` is for faults, with keys of maps in brackets; `path` for unknown fields, with dots. */
function walk(
  value: Value,
  schema: Schema,
  fieldPath: string,
  path: string,
  isResource: boolean,
  run: Run,
): FieldError | undefined {
  const embedded = isResource || schema.extensions.embeddedResource
  if (!embedded && !holdsEmbedded(schema)) return undefined
  if (Array.isArray(value)) {
    if (schema.items === undefined) return undefined
    for (const [i, item] of value.entries()) {
      const error = walk(item, schema.items, indexPath(fieldPath, i), `${path}[${i}]`, false, run)
      if (error !== undefined) return error
    }
    return undefined
  }
  if (!isObject(value)) return undefined
  if (embedded) {
    const error = coerceResource(value, fieldPath, path, run)
    if (error !== undefined) return error
  }
  const additional = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
  for (const key of Object.keys(value)) {
    if (embedded && isTypeOrMetadata(key)) continue
    const property = schema.properties.get(key)
    const below = property ?? additional
    if (below === undefined) continue
    const field = property === undefined ? keyPath(fieldPath, key) : childPath(fieldPath, key)
    const error = walk(value[key]!, below, field, childPath(path, key), false, run)
    if (error !== undefined) return error
  }
  return undefined
}

function coerceResource(value: ValueObject, fieldPath: string, path: string, run: Run): FieldError | undefined {
  for (const key of ['apiVersion', 'kind']) {
    if (!Object.hasOwn(value, key) || typeof value[key] === 'string') continue
    if (!run.dropInvalid) return fieldInvalid(childPath(fieldPath, key), value[key], 'must be a string')
    delete value[key]
  }
  if (!Object.hasOwn(value, 'metadata')) return undefined
  const metadata = value['metadata']!
  const read = run.dropInvalid ? decodeStoredObjectMeta(metadata) : decodeObjectMeta(metadata)
  if (!read.ok) return fieldInvalid(childPath(fieldPath, 'metadata'), metadata, read.error)
  setOwn(value, 'metadata', read.value.value)
  for (const unknown of read.value.unknown) run.unknown.push(childPath(path, unknown))
  return undefined
}

const holdsEmbedded = partsWith(({ extensions }) => extensions.embeddedResource)
