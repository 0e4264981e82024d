// The variables of admission's expressions, for one request.

import type { Authorizer } from '../../auth/authorizer.js'
import {
  type AuthorizerHost,
  AuthorizerValue,
  type ResourceAttributes,
  ResourceCheck,
  type Value,
  type Variables,
} from '../../cel/index.js'
import { checkDnsLabel, checkDnsSubdomain } from '../../meta/object/names.js'
import type { UserInfo } from '../../request/user-info.js'
import { celValueOf } from '../../types/cel-types.js'
import type { Attributes, VersionedObjects } from '../attributes.js'
import { admissionRequest, type MatchedResource, requestNamespace } from './admission-request.js'

/** `more`: `params`, `variables` and `namespaceObject`, which only policies have. */
export function admissionVariables(
  attributes: Attributes,
  matched: MatchedResource,
  { object, oldObject }: VersionedObjects,
  authorizer: Authorizer,
  more: Variables = NO_NAMESPACE,
): Variables {
  let request: Value | undefined
  let check: Value | undefined
  let requestCheck: Value | undefined
  const host = (): AuthorizerHost => authorizerHost(authorizer, attributes.request.user, attributes.request)
  return {
    ...more,
    object: celValueOf(object ?? null),
    oldObject: celValueOf(oldObject ?? null),
    // These are made when an expression reads them: few do.
    get request() {
      return (request ??= celValueOf(admissionRequest(attributes, matched)))
    },
    get authorizer() {
      return (check ??= new AuthorizerValue(host()))
    },
    get 'authorizer.requestResource'() {
      return (requestCheck ??= new ResourceCheck(host(), requestedCheck(attributes)))
    },
  }
}

const NO_NAMESPACE: Variables = { namespaceObject: null }

const requestedCheck = (attributes: Attributes): ResourceAttributes => ({
  ...attributes.resource,
  subresource: attributes.subresource,
  namespace: requestNamespace(attributes),
  name: attributes.name,
  fieldSelector: '',
  labelSelector: '',
})

/** `scope`: the request, in which the same check has one answer. */
const authorizerHost = (authorizer: Authorizer, user: UserInfo, scope: object): AuthorizerHost => ({
  checkPath: (path, verb) => authorizer.decideNow(user, { verb, path }, scope),
  checkResource: (check, verb) => authorizer.decideNow(user, { verb, version: '*', ...check }, scope),
  serviceAccount(namespace, name) {
    if (checkDnsSubdomain(name).length > 0) return 'Invalid service account name'
    if (checkDnsLabel(namespace).length > 0) return 'Invalid service account namespace'
    return authorizerHost(authorizer, serviceAccountUser(namespace, name), scope)
  },
})

const serviceAccountUser = (namespace: string, name: string): UserInfo => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  uid: '',
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  extra: {},
})
