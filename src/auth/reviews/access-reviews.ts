// SelfSubjectAccessReview, SubjectAccessReview and LocalSubjectAccessReview: whether a user may do something.

import { aggregate } from '../../meta/errors/aggregate.js'
import { asStruct, type FieldError, fieldInvalid, type Printed } from '../../meta/errors/field-errors.js'
import { invalid } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { has, objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type AccessAttributes } from '../../request/access-attributes.js'
import { typedVirtualResource } from '../../request/typed-virtual-resource.js'
import { type UserInfo } from '../../request/user-info.js'
import type { VirtualResource } from '../../request/virtual-resource.js'
import type { Authorize } from '../authz/authorizer.js'
import { checkSelectors, ignoredSelectors, usableFields, usableLabels } from './review-selectors.js'
import { userOf } from './user-info.js'

const API_VERSION = 'authorization.k8s.io/v1'

export const selfSubjectAccessReviews = (authorize: Authorize): VirtualResource =>
  typedVirtualResource(API_VERSION, 'selfsubjectaccessreviews', async ({ object, request: { user }, validate }) => {
    refuse([...checkSpec(object), ...checkSelectors(object), ...checkMeta(object)])
    await validate()
    return evaluated(object, user, authorize)
  })

export const subjectAccessReviews = (authorize: Authorize): VirtualResource =>
  typedVirtualResource(API_VERSION, 'subjectaccessreviews', async ({ object, validate }) => {
    refuse([...checkSpec(object), ...checkUser(object), ...checkSelectors(object), ...checkMeta(object)])
    await validate()
    return evaluated(object, userOf(objectAt(object, 'spec')), authorize)
  })

export const localSubjectAccessReviews = (authorize: Authorize): VirtualResource =>
  typedVirtualResource(API_VERSION, 'localsubjectaccessreviews', async ({ object, namespace, validate }) => {
    refuse([
      ...checkSpec(object),
      ...checkUser(object),
      ...checkSelectors(object),
      ...checkMeta(object),
      ...checkNamespace(object, namespace),
    ])
    await validate()
    return evaluated(object, userOf(objectAt(object, 'spec')), authorize)
  })

async function evaluated(review: ApiObject, user: UserInfo, authorize: Authorize): Promise<ApiObject> {
  const { allowed, denied, reason, error } = await authorize(user, attributesOf(objectAt(review, 'spec')))
  const ignored = ignoredSelectors(review)
  const errors = [...(error === undefined ? [] : [error]), ...(ignored === '' ? [] : [ignored])]
  const status = {
    allowed,
    ...(denied && { denied }),
    ...(reason !== '' && { reason }),
    ...(errors.length > 0 && { evaluationError: aggregate(errors) }),
  }
  return { ...review, status }
}

function attributesOf(spec: ValueObject): AccessAttributes {
  const requested = objectOrNone(spec, 'resourceAttributes')
  if (!requested) {
    const { path, verb } = pathAttributes(spec)
    return { path, verb }
  }
  return {
    verb: stringAt(requested, 'verb'),
    group: stringAt(requested, 'group'),
    version: stringAt(requested, 'version'),
    resource: stringAt(requested, 'resource'),
    subresource: stringAt(requested, 'subresource'),
    namespace: stringAt(requested, 'namespace'),
    name: stringAt(requested, 'name'),
    fieldSelector: usableFields(requested),
    labelSelector: usableLabels(requested),
  }
}

function pathAttributes(spec: ValueObject): { path: string; verb: string } {
  const requested = objectAt(spec, 'nonResourceAttributes')
  return { path: stringAt(requested, 'path'), verb: stringAt(requested, 'verb') }
}

// ---- validation

function refuse(errors: readonly FieldError[]): void {
  // Reviews have no name, and kube-apiserver leaves the kind out of this message.
  if (errors.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', errors)
}

/** Messages print the fields by their Go names. */
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

function checkMeta(review: ApiObject): FieldError[] {
  const { namespace: _, managedFields: __, ...rest } = metaOf(review)
  if (Object.keys(rest).length === 0) return []
  const isLocal = review.kind === 'LocalSubjectAccessReview'
  const why = isLocal ? 'must be empty except for namespace' : 'must be empty'
  return [fieldInvalid('metadata', asStruct(review.metadata), why)]
}

/** A LocalSubjectAccessReview must be about its own namespace. */
function checkNamespace(review: ApiObject, namespace: string): FieldError[] {
  const spec = objectAt(review, 'spec')
  const requested = objectOrNone(spec, 'resourceAttributes')
  const errors: FieldError[] = []
  if (requested && stringAt(requested, 'namespace') !== namespace) {
    const path = 'spec.resourceAttributes.namespace'
    errors.push(fieldInvalid(path, stringAt(requested, 'namespace'), 'must match metadata.namespace'))
  }
  if (has(spec, 'nonResourceAttributes')) {
    errors.push(fieldInvalid('spec.nonResourceAttributes', printedPath(spec), 'disallowed on this kind of request'))
  }
  return errors
}
