// The AdmissionRequest of a review: what a webhook is sent beside the objects, and the variable `request` of expressions.

import type { Awaitable } from '../../base/awaitable.js'
import { type GroupVersionKind, printGroupVersion } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { DeleteOptions, WriteOptions } from '../../meta/options/write-options.js'
import type { ValueObject } from '../../meta/values/value.js'
import { printUserInfo, type UserInfo } from '../../request/user-info.js'
import { type Attributes, convertForAdmission, type Operation } from '../attributes.js'

export interface GroupVersionResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** The resource and the kind that a rule has matched: another version of the request's with `Equivalent`. */
export interface MatchedResource {
  readonly resource: GroupVersionResource
  readonly kind: GroupVersionKind
}

/** The resource and the kind of the request itself. */
export const requestedResource = ({ resource, version, kind }: Attributes): MatchedResource => ({
  resource: { ...resource, version },
  kind,
})

/** An object of the matched kind as the request has it, with what the schema of that version may not know. */
export function inRequestedVersion(
  { storedKind, kind, request }: Attributes,
  matched: MatchedResource,
  object: ApiObject,
): Awaitable<ApiObject> {
  const isOther = matched.kind.version !== kind.version || matched.kind.group !== kind.group
  if (!isOther || storedKind?.names.kind !== kind.kind) return object
  return convertForAdmission(storedKind, object, printGroupVersion(kind), request)
}

/** The namespace of the request. That of a Namespace is its own name. */
export const requestNamespace = ({ resource, namespace, name }: Attributes): string =>
  resource.resource === 'namespaces' && resource.group === '' ? name : namespace

/** What an AdmissionRequest is made of: values that requests share, and nothing of the request that is large. */
export interface RequestParts {
  readonly matched: MatchedResource
  readonly requested: MatchedResource
  readonly operation: Operation
  readonly subresource: string
  readonly name: string
  readonly namespace: string
  readonly user: UserInfo
  readonly dryRun: boolean
  readonly options: WriteOptions | DeleteOptions
}

export function requestParts(attributes: Attributes, matched: MatchedResource): RequestParts {
  const { operation, subresource, name, resource, version, kind, request } = attributes
  const isMatched =
    matched.kind.version === kind.version &&
    matched.kind.group === kind.group &&
    matched.resource.version === version &&
    matched.resource.group === resource.group
  return {
    matched,
    requested: isMatched ? matched : requestedResource(attributes),
    operation,
    subresource,
    name,
    namespace: requestNamespace(attributes),
    user: request.user,
    dryRun: request.dryRun,
    options: request.options,
  }
}

/** All members but `uid`, `object` and `oldObject`. Members that are empty are absent, as in Go's encoding. */
export function printRequest(parts: RequestParts): ValueObject {
  const { matched, requested, operation, subresource, name, namespace } = parts
  // Member by member, since it is made for each request that a policy or function sees.
  const printed: ValueObject = { kind: { ...matched.kind }, resource: { ...matched.resource } }
  if (subresource !== '') printed['subResource'] = subresource
  printed['requestKind'] = { ...requested.kind }
  printed['requestResource'] = { ...requested.resource }
  if (subresource !== '') printed['requestSubResource'] = subresource
  if (name !== '') printed['name'] = name
  if (namespace !== '') printed['namespace'] = namespace
  printed['operation'] = operation
  printed['userInfo'] = printUserInfo(parts.user)
  printed['dryRun'] = parts.dryRun
  printed['options'] = optionsOf(parts)
  return printed
}

export const admissionRequest = (attributes: Attributes, matched: MatchedResource): ValueObject =>
  printRequest(requestParts(attributes, matched))

/** The options of the verb as an API object. A patch has the options of a create or an update. */
function optionsOf({ operation, options }: RequestParts): ValueObject | null {
  const apiVersion = 'meta.k8s.io/v1'
  switch (operation) {
    case 'CONNECT':
      return null
    case 'DELETE': {
      const dryRun = options.dryRun ? { dryRun: ['All'] } : {}
      return { kind: 'DeleteOptions', apiVersion, ...deleteOptions(options as DeleteOptions), ...dryRun }
    }
    default: {
      const { fieldManager = '', fieldValidation = '' } = options as Partial<WriteOptions>
      const printed: ValueObject = { kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions', apiVersion }
      if (options.dryRun) printed['dryRun'] = ['All']
      if (fieldManager !== '') printed['fieldManager'] = fieldManager
      if (fieldValidation !== '') printed['fieldValidation'] = fieldValidation
      return printed
    }
  }
}

function deleteOptions(options: DeleteOptions): ValueObject {
  const { gracePeriodSeconds, preconditions, orphanDependents, propagationPolicy, ignoreStoreReadError } = options
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(preconditions !== undefined && { preconditions: { ...preconditions } }),
    ...(orphanDependents !== undefined && { orphanDependents }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(ignoreStoreReadError && { ignoreStoreReadErrorWithClusterBreakingPotential: true }),
  }
}
