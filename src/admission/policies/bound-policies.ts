// The policies, bindings and parameters that apply to one request.

import { type Awaitable, andThen, eachInTurn, orElse } from '../../base/awaitable.js'
import { eachInTurns, startTurnsOf } from '../../base/turns.js'
import { StatusError } from '../../meta/errors/status.js'
import type { GroupResource } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, objectOrNone } from '../../meta/values/access.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { RequestAborted } from '../../request/request.js'
import type { Attributes } from '../attributes.js'
import { type MatchedResource, requestNamespace } from '../expressions/admission-request.js'
import type { Candidate } from '../matching/candidates.js'
import { type MatchEnv, matchesObject, matchResources } from '../matching/match-resources.js'
import { ConfigurationError, findParams, type ParamsEnv, paramKindOf } from './params.js'
import type { Binding, BoundPolicy } from './source.js'

export interface PolicyEnv extends ParamsEnv, MatchEnv {}

/** One evaluation of a policy: for one binding and one object of its parameters. */
export interface Invocation<T> {
  readonly policy: BoundPolicy<T>
  readonly binding: Binding
  readonly matched: MatchedResource
  /** Undefined if the policy or the binding has none. */
  readonly params: ApiObject | undefined
}

/** The policy or the binding cannot be used; its failure policy decides what follows. */
export interface Misconfiguration<T> {
  readonly policy: BoundPolicy<T>
  /** Undefined if the error is in the policy. */
  readonly binding: Binding | undefined
  readonly message: string
}

export interface Applicable<T> {
  readonly invocations: readonly Invocation<T>[]
  readonly errors: readonly Misconfiguration<T>[]
}

/** Whether a policy that a request is a candidate of may apply to it, as far as that is known at once. */
export const mayApply = (
  { item: { constraints, bindings } }: Candidate<BoundPolicy<unknown>>,
  attributes: Attributes,
): boolean =>
  matchesObject(constraints, attributes) &&
  bindings.some(({ resources }) => !resources || matchesObject(resources, attributes))

export function findApplicable<T>(
  policies: readonly Candidate<BoundPolicy<T>>[],
  attributes: Attributes,
  env: PolicyEnv,
): Awaitable<Applicable<T>> {
  const invocations: Invocation<T>[] = []
  const errors: Misconfiguration<T>[] = []
  const turns = startTurnsOf(attributes.request)
  const addPolicy = ({ item: policy, byRules }: Candidate<BoundPolicy<T>>): Awaitable<void> => {
    if (byRules && policy.isUnconditional) {
      for (const binding of policy.bindings) invocations.push({ policy, binding, matched: byRules, params: undefined })
      return
    }
    const failed = (binding: Binding | undefined, error: unknown): void => {
      const isExpected = error instanceof ConfigurationError || error instanceof StatusError
      if (!isExpected || error instanceof RequestAborted) throw error
      const what = binding ? 'binding' : 'policy'
      errors.push({ policy, binding, message: `failed to configure ${what}: ${error.message}` })
    }
    const addBindings = (matched: MatchedResource): Awaitable<void> => {
      const paramKind = paramKindOf(policy.spec, env)
      const addBinding = (binding: Binding): Awaitable<void> =>
        andThen(binding.resources ? matchResources(env, binding.resources, attributes) : matched, isBound => {
          if (!isBound) return
          return andThen(findParams(paramKind, binding.spec, requestNamespace(attributes), env), found => {
            for (const params of found) invocations.push({ policy, binding, matched, params })
          })
        })
      return eachInTurns(
        policy.bindings,
        binding =>
          orElse(
            () => addBinding(binding),
            error => failed(binding, error),
          ),
        turns,
      )
    }
    return orElse(
      () =>
        andThen(matchResources(env, policy.constraints, attributes, byRules), matched =>
          matched ? addBindings(matched) : undefined,
        ),
      error => failed(undefined, error),
    )
  }
  return andThen(eachInTurn(policies, addPolicy), () => ({ invocations, errors }))
}

// ---- resources that policies do not see

/** Policies could lock themselves, and the checks of access could not be answered any more. */
const EXCLUDED: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration.k8s.io': [
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
  ],
  'authentication.k8s.io': ['selfsubjectreviews', 'tokenreviews'],
  'authorization.k8s.io': [
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
  ],
}

export const isExcluded = ({ group, resource }: GroupResource): boolean =>
  Object.hasOwn(EXCLUDED, group) && EXCLUDED[group]!.includes(resource)

// ---- the namespace in expressions

const NAMESPACE_META = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
] as const

/** `namespaceObject`: null at the cluster scope and for namespaces themselves. */
export async function namespaceObject(attributes: Attributes, { objects }: ParamsEnv): Promise<Value> {
  const { namespace, kind } = attributes
  if (namespace === '' || (kind.group === '' && kind.kind === 'Namespace')) return null
  const found = await objects.find({ group: '', kind: 'Namespace' }, '', namespace)
  if (!found) return null
  const meta = metaOf(found) as ValueObject
  const metadata: ValueObject = {}
  for (const field of NAMESPACE_META) if (meta[field] !== undefined) metadata[field] = meta[field]
  return { metadata, spec: objectAt(found, 'spec'), status: objectOrNone(found, 'status') ?? {} }
}
