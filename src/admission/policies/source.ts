// The policies that count: those that exist and have a binding. They are compiled once, when a request first needs them
// after a change, and sorted by what requests address, so that a request looks only at policies whose rules match it.

import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Attributes } from '../attributes.js'
import { type MatchResources, matchRules, readMatchResources } from './match.js'

/** All policies and bindings of one type, kept in memory. */
export interface PolicyObjects {
  /** Incremented with every change. */
  readonly generation: number
  policies(): Iterable<ApiObject>
  bindings(): Iterable<ApiObject>
}

export interface BoundPolicy<T> {
  readonly name: string
  readonly spec: ValueObject
  readonly constraints: MatchResources
  readonly bindings: readonly Binding[]
  /** What the plugin has compiled of it. */
  readonly compiled: T
}

export interface Binding {
  readonly name: string
  readonly spec: ValueObject
  /** Undefined: everything that the policy matches. */
  readonly resources: MatchResources | undefined
}

export interface PolicySource<T> {
  /** The policies whose rules may match the request, by name. Names and selectors are not looked at. */
  candidates(attributes: Attributes): readonly BoundPolicy<T>[]
}

const NONE: readonly never[] = []

export function createPolicySource<T>(objects: PolicyObjects, compile: (policy: ApiObject) => T): PolicySource<T> {
  let generation: number | undefined
  let bound: readonly BoundPolicy<T>[] = NONE
  let byRequest = new Map<string, Candidates<T>>()
  let compiled = new Map<string, Compiled<T>>()

  function refresh(): void {
    ;({ generation } = objects)
    byRequest = new Map()
    const bindings = new Map<string, Binding[]>()
    for (const object of objects.bindings()) {
      const spec = objectAt(object, 'spec')
      const binding = {
        name: nameOf(object),
        spec,
        resources: readMatchResources(objectOrNone(spec, 'matchResources')),
      }
      const policyName = stringAt(spec, 'policyName')
      const others = bindings.get(policyName)
      if (others) others.push(binding)
      else bindings.set(policyName, [binding])
    }
    const before = compiled
    compiled = new Map()
    const found: BoundPolicy<T>[] = []
    for (const object of objects.policies()) {
      const name = nameOf(object)
      const ofPolicy = bindings.get(name)
      if (!ofPolicy) continue
      const { resourceVersion = '' } = metaOf(object)
      const kept = before.get(name)
      const own = kept?.resourceVersion === resourceVersion ? kept : compileOnce(object, resourceVersion, compile)
      compiled.set(name, own)
      found.push({ ...own.policy, bindings: ofPolicy.toSorted(byName) })
    }
    bound = found.toSorted(byName)
  }

  return {
    candidates(attributes) {
      if (generation !== objects.generation) refresh()
      if (bound.length === 0) return NONE
      const { operation, resource, version, subresource, namespace } = attributes
      const scope = namespace === '' ? 'cluster' : 'namespaced'
      const key = `${operation} ${scope} ${resource.group}/${version}/${resource.resource}/${subresource}`
      const known = byRequest.get(key)
      // The versions that a kind has decide about equivalence, and a definition may change them.
      if (known?.kind === attributes.storedKind && known) return known.policies
      const policies = bound.filter(({ constraints }) => mayMatch(constraints, attributes))
      if (byRequest.size >= MAX_KEYS) byRequest.clear()
      byRequest.set(key, { kind: attributes.storedKind, policies })
      return policies
    },
  }
}

/** Requests are sorted by this many combinations of operation and resource; there are rarely so many. */
const MAX_KEYS = 10_000

interface Candidates<T> {
  readonly kind: Kind | undefined
  readonly policies: readonly BoundPolicy<T>[]
}

interface Compiled<T> {
  readonly resourceVersion: string
  readonly policy: Omit<BoundPolicy<T>, 'bindings'>
}

function compileOnce<T>(object: ApiObject, resourceVersion: string, compile: (policy: ApiObject) => T): Compiled<T> {
  const spec = objectAt(object, 'spec')
  const constraints = readMatchResources(objectAt(spec, 'matchConstraints'))!
  return { resourceVersion, policy: { name: nameOf(object), spec, constraints, compiled: compile(object) } }
}

/** Whether rules match for some name. */
const mayMatch = (resources: MatchResources, attributes: Attributes): boolean =>
  matchRules(
    { ...resources, include: resources.include.map(rule => ({ ...rule, names: [] })), exclude: [] },
    attributes,
  ) !== undefined

const nameOf = (object: ApiObject): string => metaOf(object).name ?? ''
const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1)
