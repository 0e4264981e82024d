// The policies that count: those that exist and have a binding. They are sorted by what requests address, so that a request
// looks only at policies whose rules match it. A policy is compiled once for each change, when a request first needs it:
// one that matches nothing takes neither time nor memory.

import { once } from '../../base/memo.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { has, objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { createCandidates, type FindCandidates, notReady } from '../matching/candidates.js'
import { type MatchResources, readPolicyResources, selectsAll } from '../matching/match-resources.js'

/** All policies and bindings of one type, kept in memory. */
export interface PolicyObjects {
  /** Incremented with every change. */
  readonly generation: number
  policies(): Iterable<ApiObject>
  bindings(): Iterable<ApiObject>
  /** False while there are policies or bindings that cannot be read. */
  readonly isComplete: boolean
}

export interface BoundPolicy<T> {
  readonly name: string
  readonly spec: ValueObject
  readonly constraints: MatchResources
  readonly bindings: readonly Binding[]
  /** It applies to all that its rules match, with each of its bindings and without parameters. */
  readonly isUnconditional: boolean
  /** What the plugin has compiled of it. */
  readonly compiled: T
}

export interface Binding {
  readonly name: string
  readonly spec: ValueObject
  /** Undefined: everything that the policy matches. */
  readonly resources: MatchResources | undefined
}

/** The policies whose rules may match the request, by name. */
export type PolicySource<T> = FindCandidates<BoundPolicy<T>>

export function createPolicySource<T>(objects: PolicyObjects, compile: (policy: ApiObject) => T): PolicySource<T> {
  let generation: number | undefined
  let candidates: PolicySource<T>
  let compiled = new Map<string, Compiled<T>>()

  function refresh(): void {
    ;({ generation } = objects)
    const bindings = new Map<string, Binding[]>()
    for (const object of objects.bindings()) {
      const spec = objectAt(object, 'spec')
      const resources = objectOrNone(spec, 'matchResources')
      const binding = { name: nameOf(object), spec, resources: resources && readPolicyResources(resources) }
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
      found.push(boundPolicy(own, ofPolicy.toSorted(byName)))
    }
    candidates = createCandidates(found.toSorted(byName), ({ constraints }) => constraints)
  }

  return attributes => {
    if (!objects.isComplete) throw notReady(attributes)
    if (generation !== objects.generation) refresh()
    return candidates(attributes)
  }
}

interface Compiled<T> {
  readonly resourceVersion: string
  readonly policy: Omit<BoundPolicy<T>, 'bindings' | 'compiled' | 'isUnconditional'>
  readonly compiled: () => T
}

function compileOnce<T>(object: ApiObject, resourceVersion: string, compile: (policy: ApiObject) => T): Compiled<T> {
  const spec = objectAt(object, 'spec')
  const constraints = readPolicyResources(objectAt(spec, 'matchConstraints'))
  return { resourceVersion, policy: { name: nameOf(object), spec, constraints }, compiled: once(() => compile(object)) }
}

const boundPolicy = <T>({ policy, compiled }: Compiled<T>, bindings: readonly Binding[]): BoundPolicy<T> => ({
  ...policy,
  bindings,
  isUnconditional:
    !has(policy.spec, 'paramKind') &&
    selectsAll(policy.constraints) &&
    bindings.every(({ resources }) => resources === undefined),
  get compiled() {
    return compiled()
  },
})

const nameOf = (object: ApiObject): string => metaOf(object).name ?? ''
const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1)
