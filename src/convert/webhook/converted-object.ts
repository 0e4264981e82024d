// Checks a converted object. Conversion may change everything outside of metadata, and labels and annotations; other
// metadata is restored from the original.
import { type FieldError, printFieldErrors } from '../../meta/errors/field-errors.js'
import { goTypeOf } from '../../meta/go/go-text.js'
import { checkAnnotations, metaOf } from '../../meta/object/object-meta.js'
import { checkLabels } from '../../meta/selectors/label-selectors.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { VersionedObject } from '../conversion.js'

/** The converted object, or the reason why it is not accepted. */
export type Checked = { readonly object: VersionedObject } | { readonly error: string }

export function checkConverted(original: VersionedObject, converted: Value | undefined, to: string): Checked {
  const object = isObject(converted) ? converted : {}
  const wrongType = errorOfType(original, object, to)
  if (wrongType !== undefined) return { error: `object at index 0: ${wrongType}` }
  const wrongName = errorOfName(original, object)
  if (wrongName !== undefined) return { error: `object: ${wrongName}` }
  const metadata = restoredMetadata(original.metadata, getOwn(object, 'metadata'))
  if (typeof metadata === 'string') return { error: `metadata: ${metadata}` }
  return { object: { ...object, apiVersion: to, kind: original.kind, metadata } }
}

function errorOfType(original: VersionedObject, converted: ValueObject, to: string): string | undefined {
  const [apiVersion, kind] = [textOf(converted, 'apiVersion'), textOf(converted, 'kind')]
  if (apiVersion !== to) return `invalid groupVersion (expected ${to}, received ${apiVersion})`
  if (kind !== original.kind) return `invalid kind (expected ${original.kind}, received ${kind})`
  return undefined
}

function errorOfName(original: VersionedObject, converted: ValueObject): string | undefined {
  const [before, after] = [metaOf(original) as ValueObject, metaOf(converted) as ValueObject]
  for (const [field, given] of IDENTITY) {
    const [expected, received] = [textOf(before, field), textOf(after, field)]
    if (expected !== received) return `must have the same ${given}: ${expected} != ${received}`
  }
  return undefined
}

const IDENTITY = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const

const textOf = (object: ValueObject, field: string): string => {
  const value = getOwn(object, field)
  return typeof value === 'string' ? value : ''
}

/** The metadata of the original with the converted labels and annotations, or the error in them. */
function restoredMetadata(original: ValueObject, converted: Value | undefined): ValueObject | string {
  if (converted === undefined) return 'missing metadata in converted object'
  if (!isObject(converted)) return `invalid metadata of type ${goTypeOf(converted)} in converted object`
  const metadata = { ...original }
  for (const field of ['labels', 'annotations'] as const) {
    const values = getOwn(converted, field) ?? null
    delete metadata[field]
    if (values === null) continue
    if (!isObject(values)) return `invalid metadata.${field} of type ${goTypeOf(values)} in converted object`
    const error = errorOfValues(field, values, getOwn(original, field) ?? null)
    if (error !== undefined) return error
    metadata[field] = values
  }
  return metadata
}

/** Ratcheting: unchanged labels and annotations are not checked. */
function errorOfValues(field: 'labels' | 'annotations', values: ValueObject, before: Value): string | undefined {
  const previous = isObject(before) ? before : {}
  let isChanged = Object.keys(previous).length !== Object.keys(values).length
  for (const [key, value] of Object.entries(values)) {
    if (typeof value !== 'string') {
      return `metadata.${field}[${key}] must be a string, but is ${goTypeOf(value)} in converted object`
    }
    isChanged ||= getOwn(previous, key) !== value
  }
  if (!isChanged) return undefined
  const errors: FieldError[] =
    field === 'labels'
      ? checkLabels(values as Record<string, string>, 'metadata.labels')
      : checkAnnotations(values as Record<string, string>, 'metadata.annotation')
  return errors.length === 0 ? undefined : printFieldErrors(errors)
}
