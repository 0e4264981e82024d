// Migration to server-side apply from kubectl's client-side apply, which keeps the last configuration in an annotation.

import { CodecError } from '../../codec/codec-error.js'
import { decodeJson, encodeJson } from '../../codec/json.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { ANNOTATIONS_MAX, annotationsSize } from '../../meta/object/names.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { MergeType } from '../../types/merge.js'
import { difference, EMPTY, type FieldSet } from '../paths/field-set.js'
import { compareTyped } from '../typed/compare.js'
import { fieldsOf } from '../typed/owned-fields.js'
import { TypedError } from '../typed/typed-errors.js'
import { checkTyped } from '../typed/validate.js'

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration'

/** The only manager that migrates. */
export const KUBECTL = 'kubectl'

/** The fields that client-side apply set and that have not changed since: kubectl may change them without conflict. */
export function fieldsLastApplied(mergeType: MergeType, live: ApiObject): FieldSet {
  const last = lastAppliedOf(live)
  if (last === undefined || last['apiVersion'] !== live.apiVersion) return EMPTY
  try {
    checkTyped(mergeType, last, { allowDuplicates: false })
  } catch (error) {
    if (error instanceof TypedError) return EMPTY
    throw error
  }
  const { modified, added, removed } = compareTyped(mergeType, last, live)
  return difference(difference(difference(fieldsOf(mergeType, last), modified), added), removed)
}

function lastAppliedOf(live: ApiObject): ValueObject | undefined {
  const text = getOwn(annotationsOf(live), ANNOTATION)
  if (typeof text !== 'string') return undefined
  try {
    const { value } = decodeJson(Buffer.from(text))
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof CodecError) return undefined
    throw error
  }
}

const annotationsOf = (object: ValueObject): ValueObject => {
  const metadata = object['metadata']
  const annotations = isObject(metadata) ? getOwn(metadata, 'annotations') : undefined
  return isObject(annotations) ? annotations : {}
}

/** The object with the configuration in the annotation, if it has one, so that client-side apply still works. */
export function withLastApplied(object: ApiObject, configuration: ApiObject): ApiObject {
  const annotations = annotationsOf(object)
  const before = getOwn(annotations, ANNOTATION)
  if (typeof before !== 'string' || before === '') return object
  const text = `${encodeJson(withoutAnnotation(configuration), { sortKeys: true })}\n`
  const { [ANNOTATION]: _, ...others } = annotations
  const changed: ValueObject = { ...others, [ANNOTATION]: text }
  const fits = annotationsSize(changed as Record<string, string>) <= ANNOTATIONS_MAX
  return { ...object, metadata: { ...object.metadata, annotations: fits ? changed : others } }
}

function withoutAnnotation(configuration: ApiObject): Value {
  const annotations = annotationsOf(configuration)
  if (!Object.hasOwn(annotations, ANNOTATION)) return configuration
  const { [ANNOTATION]: _, ...others } = annotations
  return { ...configuration, metadata: { ...configuration.metadata, annotations: others } }
}
