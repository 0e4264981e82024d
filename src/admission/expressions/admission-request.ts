// The AdmissionRequest of a review: what a webhook is sent beside the objects, and the variable `request` of expressions.

import type { Awaitable } from '../../base/awaitable.js'
import { type GroupVersionKind, printGroupVersion } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { DeleteOptions, WriteOptions } from '../../meta/options/write-options.js'
import type { ValueObject } from '../../meta/values/value.js'
import { printUserInfo } from '../../request/user-info.js'
import type { Attributes } from '../attributes.js'

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

/** An object of the matched kind as the request has it. */
export function inRequestedVersion(
  { storedKind, kind, request }: Attributes,
  matched: MatchedResource,
  object: ApiObject,
): Awaitable<ApiObject> {
  const isOther = matched.kind.version !== kind.version || matched.kind.group !== kind.group
  return isOther && storedKind?.names.kind === kind.kind
    ? storedKind.convert(object, printGroupVersion(kind), request)
    : object
}

/** The namespace of the request. That of a Namespace is its own name. */
export const requestNamespace = ({ resource, namespace, name }: Attributes): string =>
  resource.resource === 'namespaces' && resource.group === '' ? name : namespace

/** All members but `uid`, `object` and `oldObject`. Members that are empty are absent, as in Go's encoding. */
export function admissionRequest(attributes: Attributes, matched: MatchedResource): ValueObject {
  const { operation, subresource, name, request } = attributes
  const requested = requestedResource(attributes)
  const namespace = requestNamespace(attributes)
  // Member by member, since it is made for each request that a policy or function sees.
  const printed: ValueObject = { kind: { ...matched.kind }, resource: { ...matched.resource } }
  if (subresource !== '') printed['subResource'] = subresource
  printed['requestKind'] = { ...requested.kind }
  printed['requestResource'] = { ...requested.resource }
  if (subresource !== '') printed['requestSubResource'] = subresource
  if (name !== '') printed['name'] = name
  if (namespace !== '') printed['namespace'] = namespace
  printed['operation'] = operation
  printed['userInfo'] = printUserInfo(request.user)
  printed['dryRun'] = request.dryRun
  printed['options'] = optionsOf(attributes)
  return printed
}

/** The options of the verb as an API object. A patch has the options of a create or an update. */
function optionsOf({ operation, request }: Attributes): ValueObject | null {
  const { options } = request
  const apiVersion = 'meta.k8s.io/v1'
  const dryRun = options.dryRun ? { dryRun: ['All'] } : {}
  switch (operation) {
    case 'CONNECT':
      return null
    case 'DELETE':
      return { kind: 'DeleteOptions', apiVersion, ...deleteOptions(options as DeleteOptions), ...dryRun }
    default: {
      const { fieldManager = '', fieldValidation = '' } = options as Partial<WriteOptions>
      return {
        kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions',
        apiVersion,
        ...dryRun,
        ...(fieldManager !== '' && { fieldManager }),
        ...(fieldValidation !== '' && { fieldValidation }),
      }
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
