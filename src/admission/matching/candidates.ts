// Sorts webhooks or policies by what requests address, so that a request looks only at those whose rules may match it:
// the many that do not match cost nothing.

import type { Kind } from '../../kinds/kind.js'
import type { Attributes } from '../attributes.js'
import { type MatchResources, mayMatch } from './match-resources.js'

/** Those whose rules may match the request, in their order. Names and selectors are not looked at. */
export type FindCandidates<T> = (attributes: Attributes) => readonly T[]

interface Known<T> {
  readonly kind: Kind | undefined
  readonly found: readonly T[]
}

const NONE: readonly never[] = []
/** Requests name resources that exist, so that this limit is hardly ever reached. */
const MAX_KEYS = 10_000

export function createCandidates<T>(all: readonly T[], resourcesOf: (each: T) => MatchResources): FindCandidates<T> {
  if (all.length === 0) return () => NONE
  const byRequest = new Map<string, Known<T>>()
  return attributes => {
    const { operation, resource, version, subresource, namespace, storedKind } = attributes
    const scope = namespace === '' ? 'cluster' : 'namespaced'
    const key = `${operation} ${scope} ${resource.group}/${version}/${resource.resource}/${subresource}`
    const known = byRequest.get(key)
    // The versions of a kind decide about equivalence, and its definition may change them.
    if (known && known.kind === storedKind) return known.found
    const found = all.filter(each => mayMatch(resourcesOf(each), attributes))
    if (byRequest.size >= MAX_KEYS) byRequest.clear()
    byRequest.set(key, { kind: storedKind, found })
    return found
  }
}
