// The variables of admission's expressions, for one request.

import type { Authorizer } from '../../auth/authorizer.js'
import {
  type AuthorizerHost,
  AuthorizerValue,
  type ResourceAttributes,
  ResourceCheck,
  type Variables,
} from '../../cel/index.js'
import { checkDnsLabel, checkDnsSubdomain } from '../../meta/object/names.js'
import type { UserInfo } from '../../request/user-info.js'
import type { Attributes, VersionedObjects } from '../attributes.js'
import { admissionRequest, type MatchedResource, requestNamespace } from './admission-request.js'
import { celValueOf } from './json-value.js'

/** All but `params`, `variables` and `namespaceObject`, which only policies have. */
export function admissionVariables(
  attributes: Attributes,
  matched: MatchedResource,
  { object, oldObject }: VersionedObjects,
  authorizer: Authorizer,
): Variables {
  const { resource, subresource, name, request } = attributes
  const host = authorizerHost(authorizer, request.user, request)
  const requested: ResourceAttributes = {
    ...resource,
    subresource,
    namespace: requestNamespace(attributes),
    name,
    fieldSelector: '',
    labelSelector: '',
  }
  return {
    object: celValueOf(object ?? null),
    oldObject: celValueOf(oldObject ?? null),
    namespaceObject: null,
    request: celValueOf(admissionRequest(attributes, matched)),
    authorizer: new AuthorizerValue(host),
    'authorizer.requestResource': new ResourceCheck(host, requested),
  }
}

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
