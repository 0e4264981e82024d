// MutatingAdmissionPolicy: expressions that change an object. Policies run by name, each on the object as the one before
// has left it. A policy with `reinvocationPolicy: IfNeeded` runs once more if the object was changed after it.

import type { GetAuthorizer } from '../../auth/authorizer.js'
import type { MetricsRegistry } from '../../base/metrics.js'
import { startTurnsOf } from '../../base/turns.js'
import { CelError, EvaluationAborted, type Value } from '../../cel/index.js'
import { StatusError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import { printGroupVersion } from '../../meta/group-version.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { equalValues } from '../../meta/values/value.js'
import { celValueOf } from '../../types/cel-types.js'
import { type Attributes, forbiddenBy } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'
import { inRequestedVersion, type MatchedResource } from '../expressions/admission-request.js'
import { countedConditions, type EvaluateConditions } from '../expressions/condition-metrics.js'
import { admissionVariables } from '../expressions/variables.js'
import type { Candidate } from '../matching/candidates.js'
import {
  findApplicable,
  type Invocation,
  isExcluded,
  mayApply,
  namespaceObject,
  type PolicyEnv,
} from './bound-policies.js'
import {
  compilePolicy,
  LazyExpression,
  mayReadNamespace,
  OutOfBudget,
  PolicyEvaluation,
  type PolicyExpression,
  type PolicyPrograms,
} from './compile.js'
import { logIgnored, logRefusal } from './log.js'
import { createPolicyMetrics, type PolicyMetrics } from './metrics.js'
import { applyObject, applyOperations, MutationError, type PatchTarget } from './patch.js'
import { type BoundPolicy, createPolicySource, type PolicyObjects } from './source.js'

export interface MutatingPolicyEnv extends PolicyEnv {
  readonly mutatingPolicies: PolicyObjects
  readonly authorizer: GetAuthorizer
  readonly metrics: MetricsRegistry
}

interface MutatingPolicy extends PolicyPrograms {
  readonly mutations: readonly Mutation[]
  readonly readsNamespace: boolean
  readonly isReinvoked: boolean
}

interface Mutation {
  readonly expression: PolicyExpression
  apply(value: Value, target: PatchTarget): ApiObject
}

type Bound = BoundPolicy<MutatingPolicy>

const PLUGIN = 'MutatingAdmissionPolicy'

export function mutatingAdmissionPolicy(env: MutatingPolicyEnv): AdmissionPlugin {
  const source = createPolicySource(env.mutatingPolicies, compileMutating)
  const metrics = createPolicyMetrics(env.metrics, 'mutating')
  const evaluateConditions = countedConditions(env.metrics, 'policy', 'admit')
  return {
    name: PLUGIN,
    operations: new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']),
    mutate(attributes) {
      if (isExcluded(attributes.resource)) return undefined
      const candidates = source(attributes)
      if (candidates.length === 0) return undefined
      const policies = candidates.filter(policy => mayApply(policy, attributes))
      return policies.length === 0 ? undefined : mutate(env, metrics, evaluateConditions, policies, attributes)
    },
  }
}

function compileMutating(object: ApiObject): MutatingPolicy {
  const programs = compilePolicy(object)
  const { spec, compiler } = programs
  const mutations = objectsAt(spec, 'mutations').map((mutation): Mutation => {
    if (stringAt(mutation, 'patchType') === 'JSONPatch') {
      const text = stringAt(objectAt(mutation, 'jsonPatch'), 'expression')
      return { expression: new LazyExpression(text, compiler.jsonPatch), apply: applyOperations }
    }
    const text = stringAt(objectAt(mutation, 'applyConfiguration'), 'expression')
    return { expression: new LazyExpression(text, compiler.applyConfiguration), apply: applyObject }
  })
  const expressions = mutations.map(({ expression }) => expression)
  return {
    ...programs,
    mutations,
    readsNamespace: mayReadNamespace(programs, expressions),
    isReinvoked: stringAt(spec, 'reinvocationPolicy') === 'IfNeeded',
  }
}

/** What is kept between the two runs of the plugins: invocations by policy, binding and parameters. */
interface Invocations {
  /** Made with IfNeeded, and nothing has changed since. */
  made: Set<string>
  /** To be made again. */
  readonly again: Set<string>
  /** The object after the last policy. */
  output: ApiObject | undefined
}

async function mutate(
  env: MutatingPolicyEnv,
  metrics: PolicyMetrics,
  evaluateConditions: EvaluateConditions,
  policies: readonly Candidate<Bound>[],
  attributes: Attributes,
): Promise<ApiObject | undefined> {
  const { invocations, errors } = await findApplicable(policies, attributes, env)
  const failures = errors
    .filter(({ policy }) => policy.compiled.failurePolicy === 'Fail')
    .map(({ policy, binding, message }) => ({ message: denied(policy, binding?.name, message), reason: '' }))
  /** The first failure of each policy whose failures are ignored. */
  const ignored = new Map<string, string>()
  let current = attributes
  if (invocations.length > 0) {
    const { reinvocation } = attributes
    const kept = reinvocation.slot<Invocations>(PLUGIN, () => ({
      made: new Set(),
      again: new Set(),
      output: undefined,
    }))
    // Another plugin has changed the object in the second run.
    if (reinvocation.isReinvoke && !sameObject(kept.output, attributes.object)) repeatAll(kept)
    const needsNamespace = invocations.some(({ policy }) => policy.compiled.readsNamespace)
    const namespace = celValueOf(needsNamespace ? await namespaceObject(attributes, env) : null)
    const turns = startTurnsOf(attributes.request)
    for (const invocation of invocations) {
      if (turns.isDue()) await turns.give()
      const key = keyOf(invocation)
      const before = current
      const begin = performance.now()
      const run = await runPolicy(
        env,
        evaluateConditions,
        invocation,
        before,
        namespace,
        () => !reinvocation.isReinvoke || kept.again.has(key),
      )
      if (!run) continue
      current = run.attributes
      const { policy, binding } = invocation
      const [failure] = run.errors
      const isDenied = failure !== undefined && policy.compiled.failurePolicy === 'Fail'
      const seconds = (performance.now() - begin) / 1000
      metrics.of(policy.name, binding).checked(failure, isDenied ? 'deny' : 'allow', seconds)
      for (const error of run.errors) {
        if (policy.compiled.failurePolicy === 'Fail') {
          failures.push({ message: denied(policy, binding.name, error), reason: 'Invalid' })
        }
      }
      if (failure !== undefined && !isDenied && !ignored.has(policy.name)) ignored.set(policy.name, failure)
      if (!run.hasRun) continue
      if (!sameObject(before.object, current.object)) {
        repeatAll(kept)
        reinvocation.request()
      }
      if (policy.compiled.isReinvoked) kept.made.add(key)
    }
    kept.output = current.object
  }
  for (const [policy, why] of ignored) logIgnored(attributes.request, policy, why)
  if (failures.length > 0) throw logRefusal(attributes.request, refusal(failures, attributes))
  return current === attributes ? undefined : current.object
}

const sameObject = (a: ApiObject | undefined, b: ApiObject | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && equalValues(a, b))

function repeatAll(kept: Invocations): void {
  for (const key of kept.made) kept.again.add(key)
  kept.made = new Set()
}

function keyOf({ policy, binding, params }: Invocation<unknown>): string {
  const { namespace = '', name = '' } = params ? metaOf(params) : {}
  return `${policy.name}/${binding.name}/${namespace}/${name}`
}

// ---- one policy

interface Run {
  /** With the object as the mutations have left it. */
  readonly attributes: Attributes
  readonly errors: readonly string[]
  /** False if a condition has failed. */
  readonly hasRun: boolean
}

/** Undefined if a condition is not met, or if the policy is not due. */
async function runPolicy(
  env: MutatingPolicyEnv,
  evaluateConditions: EvaluateConditions,
  { policy, matched, params }: Invocation<MutatingPolicy>,
  attributes: Attributes,
  namespace: Value,
  isDue: () => boolean,
): Promise<Run | undefined> {
  const { compiled } = policy
  let current = attributes
  const inputsOf = async () => ({
    ...admissionVariables(current, matched, await current.inVersion(matched.kind), env.authorizer()),
    params: celValueOf(params ?? null),
  })
  if (!compiled.conditions.isEmpty) {
    const result = evaluateConditions(compiled.conditions, policy.name, attributes.operation, await inputsOf())
    if (result.matches === undefined) return { attributes, errors: [result.error], hasRun: false }
    if (!result.matches) return undefined
  }
  if (!isDue()) return undefined
  const errors: string[] = []
  for (const mutation of compiled.mutations) {
    const { object } = await current.inVersion(matched.kind)
    if (!object) continue
    try {
      const inputs = { ...(await inputsOf()), namespaceObject: namespace }
      const value = new PolicyEvaluation(compiled, inputs).evaluate(mutation.expression)
      if (value instanceof CelError) throw new MutationError(value.message)
      const changed = mutation.apply(value, { object, storedKind: current.storedKind, findKind: env.findKind })
      checkConvertible(current, matched)
      current = current.withObject(await inRequestedVersion(current, matched, changed))
    } catch (error) {
      if (!FAILURES.some(type => error instanceof type)) throw error
      errors.push((error as Error).message)
    }
  }
  return { attributes: current, errors, hasRun: true }
}

/** As in kube-apiserver, an object that was matched in another group cannot be given back. */
function checkConvertible({ kind }: Attributes, matched: MatchedResource): void {
  if (matched.kind.group === kind.group) return
  const scheme = 'pkg/api/legacyscheme/scheme.go:30'
  const to = quote(printGroupVersion(kind))
  throw new MutationError(`${kind.version}.${kind.kind} is not suitable for converting to ${to} in scheme "${scheme}"`)
}

// ---- errors

const FAILURES = [MutationError, OutOfBudget, EvaluationAborted]

const denied = ({ name }: Bound, binding: string | undefined, message: string): string =>
  binding === undefined
    ? `policy ${quote(name)} denied request: ${message}`
    : `policy '${name}' with binding '${binding}' denied request: ${message}`

interface Failure {
  readonly message: string
  /** Empty if the policy or the binding is configured wrongly. */
  readonly reason: string
}

/** The message and the reason are those of the first failure, and all of them are causes. The code is 403 in any case. */
function refusal(failures: readonly Failure[], attributes: Attributes): StatusError {
  const { status } = forbiddenBy(attributes, '')
  const [{ message, reason }] = failures as [Failure]
  return new StatusError({
    ...status,
    message,
    ...(reason === 'Invalid' && { reason }),
    details: { ...status.details, causes: failures.map(({ message: cause }) => ({ message: cause })) },
  })
}
