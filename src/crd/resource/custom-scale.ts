// The scale of a custom object: read and written by the paths that its definition names.

import type { Result } from '../../base/result.js'
import type { ScaleStrategy } from '../../kinds/kind.js'
import { type FieldError, fieldInvalid } from '../../meta/errors/field-errors.js'
import { badRequest, internalError, unclassified } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { ScaleSpec } from '../definition.js'
import { fieldsOf, nestedInteger, nestedText, withNested } from './nested-fields.js'

const MAX_INT32 = 2 ** 31 - 1

export function scaleRulesOf({ specReplicasPath, statusReplicasPath, labelSelectorPath }: ScaleSpec): ScaleStrategy {
  const readForUpdate = (object: ApiObject): ApiObject => {
    const { name = '', namespace, uid = '', resourceVersion = '', creationTimestamp = null } = metaOf(object)
    const wanted = must(nestedInteger(object, specReplicasPath)) ?? UNSET
    const selector = labelSelectorPath ? must(nestedText(object, labelSelectorPath)) : undefined
    return {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, ...(namespace && { namespace }), uid, resourceVersion, creationTimestamp },
      spec: Number(wanted) === 0 ? {} : { replicas: Number(wanted) },
      status: {
        replicas: Number(must(nestedInteger(object, statusReplicasPath)) ?? 0),
        ...(selector && { selector }),
      },
    }
  }
  return {
    replicasPath: fieldsOf(specReplicasPath),
    // The object is checked when it is written, in the words of its own schema.
    validate: () => [],
    undecodable: 'no kind is registered for the type v1.Scale in scheme "pkg/apiserver/customresource_handler.go:781"',
    unappliable: 'request to convert CR to an invalid group/version: autoscaling/v1',
    read(object) {
      const scale = readForUpdate(object)
      if ((scale['spec'] as ValueObject)['replicas'] !== UNSET) return scale
      throw internalError(`the spec replicas field ${quote(specReplicasPath)} does not exist`)
    },
    readForUpdate,
    write(object, scale) {
      const spec: ValueObject = isObject(scale['spec']) ? scale['spec'] : {}
      const replicas = spec['replicas'] ?? 0
      if (replicas === UNSET) {
        throw badRequest(`the spec replicas field ${quote(specReplicasPath)} cannot be empty`)
      }
      return withNested(object, fieldsOf(specReplicasPath), replicas) as ApiObject
    },
  }
}

/** The scale of an object without the fields. */
const UNSET = -(2 ** 31)

function must<T>(read: Result<T>): T {
  if (!read.ok) throw unclassified(read.error)
  return read.value
}

/** Errors of the fields that the scale is made of. */
export const checkScaleSpec = (object: ValueObject, { specReplicasPath }: ScaleSpec): FieldError[] =>
  checkCount(object, specReplicasPath)

export function checkScaleStatus(object: ValueObject, scale: ScaleSpec): FieldError[] {
  const { statusReplicasPath, labelSelectorPath } = scale
  return [
    ...checkCount(object, statusReplicasPath),
    ...(labelSelectorPath ? checked(nestedText(object, labelSelectorPath), labelSelectorPath, '') : []),
  ]
}

function checkCount(object: ValueObject, path: string): FieldError[] {
  const count = nestedInteger(object, path)
  if (!count.ok || count.value === undefined) return checked(count, path, 0)
  if (count.value < 0) return [fieldInvalid(path, count.value, 'should be a non-negative integer')]
  if (count.value <= MAX_INT32) return []
  return [fieldInvalid(path, count.value, `should be less than or equal to ${MAX_INT32}`)]
}

/** The error names only the value in the way, and shows none. */
const checked = (read: Result<unknown>, path: string, zero: Value): FieldError[] =>
  read.ok ? [] : [fieldInvalid(path, zero, read.error)]
