// May somebody do something: the caller, anybody, or anybody within one namespace.

import {
  asStruct,
  childPath,
  type FieldError,
  fieldInvalid,
  fieldRequired,
  type Printed,
} from '../../meta/errors/field-errors.js'
import { invalid } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { has, objectAt, objectOrNone, objectsAt, textAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type Deed } from '../../request/access-attributes.js'
import { typedVirtualKind } from '../../request/typed-virtual-resource.js'
import { type Caller } from '../../request/user-info.js'
import type { VirtualKind } from '../../request/virtual-resource.js'
import type { Authorizer } from '../authz/authorize.js'
import { userOf } from './user-info.js'

const API_VERSION = 'authorization.k8s.io/v1'

export const selfSubjectAccessReviews = (authorize: Authorizer): VirtualKind =>
  typedVirtualKind(API_VERSION, 'selfsubjectaccessreviews', ({ object, caller }) => {
    refuse([...checkSpec(object), ...checkSelectors(object), ...checkMeta(object)])
    return judged(object, caller, authorize)
  })

export const subjectAccessReviews = (authorize: Authorizer): VirtualKind =>
  typedVirtualKind(API_VERSION, 'subjectaccessreviews', ({ object }) => {
    refuse([...checkSpec(object), ...checkUser(object), ...checkSelectors(object), ...checkMeta(object)])
    return judged(object, userOf(objectAt(object, 'spec')), authorize)
  })

export const localSubjectAccessReviews = (authorize: Authorizer): VirtualKind =>
  typedVirtualKind(API_VERSION, 'localsubjectaccessreviews', ({ object, namespace }) => {
    refuse([
      ...checkSpec(object),
      ...checkUser(object),
      ...checkSelectors(object),
      ...checkMeta(object),
      ...checkPlace(object, namespace),
    ])
    return judged(object, userOf(objectAt(object, 'spec')), authorize)
  })

async function judged(review: ApiObject, user: Caller, authorize: Authorizer): Promise<ApiObject> {
  const { allowed, reason } = await authorize(user, deedOf(objectAt(review, 'spec')))
  return { ...review, status: { allowed, ...(reason !== '' && { reason }) } }
}

function deedOf(spec: ValueObject): Deed {
  const asked = objectOrNone(spec, 'resourceAttributes')
  if (!asked) {
    const { path, verb } = pathAttributes(spec)
    return { path, verb }
  }
  return {
    verb: textAt(asked, 'verb'),
    group: textAt(asked, 'group'),
    resource: textAt(asked, 'resource'),
    subresource: textAt(asked, 'subresource'),
    namespace: textAt(asked, 'namespace'),
    name: textAt(asked, 'name'),
  }
}

function pathAttributes(spec: ValueObject): { path: string; verb: string } {
  const asked = objectAt(spec, 'nonResourceAttributes')
  return { path: textAt(asked, 'path'), verb: textAt(asked, 'verb') }
}

// ---- what is wrong with a review

function refuse(faults: readonly FieldError[]): void {
  // Reviews have no name, and the reference server tells of no kind here either.
  if (faults.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', faults)
}

/** A part is named in messages as Go's own types name it. */
function printedPath(spec: ValueObject): Printed {
  const { path, verb } = pathAttributes(spec)
  return asStruct({ Path: path, Verb: verb })
}

function checkSpec(review: ApiObject): FieldError[] {
  const spec = objectAt(review, 'spec')
  const hasResource = has(spec, 'resourceAttributes')
  const hasPath = has(spec, 'nonResourceAttributes')
  if (hasResource && hasPath) {
    const why = 'cannot be specified in combination with resourceAttributes'
    return [fieldInvalid('spec.nonResourceAttributes', printedPath(spec), why)]
  }
  if (hasResource || hasPath) return []
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  return [fieldInvalid('spec.resourceAttributes', null, why)]
}

function checkUser(review: ApiObject): FieldError[] {
  const { name, groups } = userOf(objectAt(review, 'spec'))
  if (name !== '' || groups.length > 0) return []
  return [fieldInvalid('spec.user', name, 'at least one of user or group must be specified')]
}

function checkSelectors(review: ApiObject): FieldError[] {
  const asked = objectAt(objectAt(review, 'spec'), 'resourceAttributes')
  return ['fieldSelector', 'labelSelector'].flatMap(name => {
    const selector = objectOrNone(asked, name)
    if (!selector) return []
    const path = `spec.resourceAttributes.${name}`
    const raw = textAt(selector, 'rawSelector')
    const hasRequirements = objectsAt(selector, 'requirements').length > 0
    if (raw !== '' && hasRequirements) {
      return [fieldInvalid(childPath(path, 'rawSelector'), raw, 'may not specified at the same time as requirements')]
    }
    if (raw !== '' || hasRequirements) return []
    const why = `when ${path} is specified, requirements or rawSelector is required`
    return [fieldRequired(childPath(path, 'requirements'), why)]
  })
}

function checkMeta(review: ApiObject): FieldError[] {
  const { namespace: _, managedFields: __, ...rest } = metaOf(review)
  if (Object.keys(rest).length === 0) return []
  const isLocal = review.kind === 'LocalSubjectAccessReview'
  const why = isLocal ? 'must be empty except for namespace' : 'must be empty'
  return [fieldInvalid('metadata', asStruct(review.metadata), why)]
}

/** A review within a namespace is about that namespace. */
function checkPlace(review: ApiObject, namespace: string): FieldError[] {
  const spec = objectAt(review, 'spec')
  const asked = objectOrNone(spec, 'resourceAttributes')
  const faults: FieldError[] = []
  if (asked && textAt(asked, 'namespace') !== namespace) {
    const path = 'spec.resourceAttributes.namespace'
    faults.push(fieldInvalid(path, textAt(asked, 'namespace'), 'must match metadata.namespace'))
  }
  if (has(spec, 'nonResourceAttributes')) {
    faults.push(fieldInvalid('spec.nonResourceAttributes', printedPath(spec), 'disallowed on this kind of request'))
  }
  return faults
}
