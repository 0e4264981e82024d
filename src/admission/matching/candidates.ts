// Sorts webhooks or policies by what requests address, so that a request looks only at those whose rules may match it:
// the many that do not match cost nothing.
import type { Kind } from '../../kinds/kind.js'
import { forbidden, type StatusError } from '../../meta/errors/status.js'
import type { GroupResource, GroupVersionKind } from '../../meta/group-version.js'
import type { Attributes, Operation } from '../attributes.js'
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

/** What requests that address the same have in common. */
interface Known<T> {
  readonly operation: Operation
  readonly resource: GroupResource
  readonly version: string
  readonly subresource: string
  readonly isNamespaced: boolean
  /** That of the object: requests to one subresource may have bodies of several kinds. */
  readonly kind: GroupVersionKind
  readonly found: readonly Candidate<T>[]
}

const NONE: readonly never[] = []
/** Requests name resources that exist, so that this limit is hardly ever reached. */
const MAX_KNOWN = 1000

export function createCandidates<T>(all: readonly T[], resourcesOf: (each: T) => MatchResources): FindCandidates<T> {
  if (all.length === 0) return () => NONE
  /** By the kind, since its versions decide about equivalence and its definition may change them. */
  const ofKinds = new WeakMap<Kind, Known<T>[]>()
  const ofNone: Known<T>[] = []
  const knownOf = (kind: Kind | undefined): Known<T>[] => {
    if (!kind) return ofNone
    const known = ofKinds.get(kind) ?? []
    if (known.length === 0) ofKinds.set(kind, known)
    return known
  }
  return attributes => {
    const known = knownOf(attributes.storedKind)
    for (const each of known) if (isFor(each, attributes)) return each.found
    const { operation, resource, version, subresource, namespace, kind } = attributes
    const requested = requestedResource(attributes)
    const found = all.flatMap(item => candidateOf(item, resourcesOf(item), attributes, requested))
    if (known.length >= MAX_KNOWN) known.length = 0
    known.push({ operation, resource, version, subresource, isNamespaced: namespace !== '', kind, found })
    return found
  }
}

const isFor = <T>(
  known: Known<T>,
  { operation, resource, version, subresource, namespace, kind }: Attributes,
): boolean =>
  known.operation === operation &&
  known.subresource === subresource &&
  known.version === version &&
  known.isNamespaced === (namespace !== '') &&
  known.resource.resource === resource.resource &&
  known.resource.group === resource.group &&
  known.kind.kind === kind.kind &&
  known.kind.version === kind.version &&
  known.kind.group === kind.group

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
