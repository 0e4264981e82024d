// Embedded resources must have an apiVersion and a kind that make sense, and metadata that any object could have.
import {
  childPath,
  type FieldError,
  fieldInvalid,
  fieldRequired,
  indexPath,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { parseGroupVersion } from '../../meta/group-version.js'
import { checkDns1035Label, checkPathSegment } from '../../meta/object/names.js'
import { checkObjectMeta, type ObjectMeta } from '../../meta/object/object-meta.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { decodeObjectMeta } from '../../types/object-meta.js'
import { isTypeOrMetadata } from '../shape/shape.js'
import { BELOW, type Schema } from '../structure/structural.js'
import { shown } from './run.js'

export function checkEmbedded(value: Value, schema: Schema, at = '', isResource = false): FieldError[] {
  const errors: FieldError[] = []
  walk(value, schema, at, isResource, errors)
  return errors
}

const holdsEmbedded = ({ below }: Schema): boolean => (below & BELOW.embeddedResource) !== 0

function walk(value: Value, schema: Schema, path: string, isResource: boolean, errors: FieldError[]): void {
  const embedded = isResource || schema.extensions.embeddedResource
  if (!embedded && !holdsEmbedded(schema)) return
  if (Array.isArray(value)) {
    if (schema.items === undefined) return
    for (const [i, item] of value.entries()) walk(item, schema.items, indexPath(path, i), false, errors)
  } else if (isObject(value)) {
    if (embedded) errors.push(...checkResource(value, path))
    const additional = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
    for (const key of Object.keys(value)) {
      if (embedded && isTypeOrMetadata(key)) continue
      const property = schema.properties.get(key)
      if (property !== undefined) walk(value[key]!, property, childPath(path, key), false, errors)
      else if (additional !== undefined) walk(value[key]!, additional, keyPath(path, key), false, errors)
    }
  }
}

function checkResource(resource: ValueObject, path: string): FieldError[] {
  return [
    ...checkTypeField(resource, 'apiVersion', path, apiVersionError),
    ...checkTypeField(resource, 'kind', path, kindError),
    ...(Object.hasOwn(resource, 'metadata') ? checkMetadata(resource['metadata']!, childPath(path, 'metadata')) : []),
  ]
}

function checkTypeField(
  resource: ValueObject,
  name: string,
  path: string,
  reasonOf: (text: string) => string | undefined,
): FieldError[] {
  const at = childPath(path, name)
  if (!Object.hasOwn(resource, name)) return [fieldRequired(at)]
  const value = resource[name]!
  const error = typeof value !== 'string' ? 'must be a string' : value === '' ? 'must not be empty' : reasonOf(value)
  return error === undefined ? [] : [fieldInvalid(at, shown(value), error)]
}

function apiVersionError(apiVersion: string): string | undefined {
  const read = parseGroupVersion(apiVersion)
  return read.ok ? undefined : read.error
}

function kindError(kind: string): string | undefined {
  const errors = checkDns1035Label(kind.toLowerCase())
  return errors.length === 0 ? undefined : `may have mixed case, but should otherwise match: ${errors.join(',')}`
}

function checkMetadata(metadata: Value, path: string): FieldError[] {
  const read = decodeObjectMeta(metadata)
  if (!read.ok) return [fieldInvalid(path, shown(metadata), read.error)]
  const meta = read.value.value as ObjectMeta
  // An embedded resource needs no name; one that it has must be fit for a path.
  const named = meta.name ? meta : { ...meta, name: 'unnamed' }
  const rules = {
    namespaced: Boolean(meta.namespace),
    name: (name: string) => checkPathSegment(name),
    generateName: (base: string) => checkPathSegment(base, true),
  }
  return checkObjectMeta(named, rules, path)
}
