// Sorts webhooks or policies by what requests address, so that a request looks only at those whose rules may match it:
// the many that do not match cost nothing.
import type { Kind } from '../../kinds/kind.js'
import { forbidden, type StatusError } from '../../meta/errors/status.js'
import type { GroupVersionKind } from '../../meta/group-version.js'
import type { Attributes } from '../attributes.js'
import { type MatchedResource, requestedResource } from '../expressions/admission-request.js'
import { dependsOnNames, type MatchResources, matchRules, mayMatch } from './match-resources.js'

/** A webhook or policy whose rules may match the request. */
export interface Candidate<T> {
  readonly item: T
  /** What its rules have matched; undefined if the name of the object decides about it. */
  readonly byRules: MatchedResource | undefined
}

/** Those whose rules may match the request, in their order. Names and selectors are not looked at. */
export type FindCandidates<T> = (attributes: Attributes) => readonly Candidate<T>[]

interface Known<T> {
  /** The versions of a kind decide about equivalence, and its definition may change them. */
  readonly storedKind: Kind | undefined
  /** That of the object: requests to one subresource may have bodies of several kinds. */
  readonly kind: GroupVersionKind
  readonly found: readonly Candidate<T>[]
}

const NONE: readonly never[] = []
/** Requests name resources that exist, so that this limit is hardly ever reached. */
const MAX_KEYS = 10_000

export function createCandidates<T>(all: readonly T[], resourcesOf: (each: T) => MatchResources): FindCandidates<T> {
  if (all.length === 0) return () => NONE
  const byRequest = new Map<string, Known<T>>()
  return attributes => {
    const { operation, resource, version, subresource, namespace, storedKind, kind } = attributes
    const scope = namespace === '' ? 'cluster' : 'namespaced'
    const key = `${operation} ${scope} ${resource.group}/${version}/${resource.resource}/${subresource}`
    const known = byRequest.get(key)
    if (known && known.storedKind === storedKind && isSameKind(known.kind, kind)) return known.found
    const requested = requestedResource(attributes)
    const found = all.flatMap(item => candidateOf(item, resourcesOf(item), attributes, requested))
    if (byRequest.size >= MAX_KEYS) byRequest.clear()
    byRequest.set(key, { storedKind, kind, found })
    return found
  }
}

const isSameKind = (a: GroupVersionKind, b: GroupVersionKind): boolean =>
  a.kind === b.kind && a.version === b.version && a.group === b.group

function candidateOf<T>(
  item: T,
  resources: MatchResources,
  attributes: Attributes,
  requested: MatchedResource,
): Candidate<T>[] {
  if (dependsOnNames(resources)) return mayMatch(resources, attributes) ? [{ item, byRules: undefined }] : []
  const byRules = matchRules(resources, attributes, requested)
  return byRules ? [{ item, byRules }] : []
}

/** While a configuration or policy cannot be read, it is not known what it would refuse. */
export const notReady = ({ resource, name }: Pick<Attributes, 'resource' | 'name'>): StatusError =>
  forbidden(resource, name, 'not yet ready to handle request')
