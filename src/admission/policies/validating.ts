// ValidatingAdmissionPolicy: expressions that an object must meet. The actions of a binding decide whether a violation
// refuses the request, adds a warning or an audit annotation.

import type { GetAuthorizer } from '../../auth/authorizer.js'
import { type Awaitable, andThen, orElse } from '../../base/awaitable.js'
import type { MetricsRegistry } from '../../base/metrics.js'
import { eachInTurns, startTurnsOf, type Turns } from '../../base/turns.js'
import { CelError, type Value, type Variables } from '../../cel/index.js'
import { type Status, StatusError } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { celValueOf } from '../../types/cel-types.js'
import { type Attributes, forbiddenBy } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'
import type { MatchedResource } from '../expressions/admission-request.js'
import { countedConditions, type EvaluateConditions } from '../expressions/condition-metrics.js'
import type { MatchConditions, MatchResult } from '../expressions/match-conditions.js'
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
  NO_VARIABLES,
  OutOfBudget,
  PolicyEvaluation,
  type PolicyExpression,
  type PolicyPrograms,
} from './compile.js'
import { logIgnored, logRefusal } from './log.js'
import { createPolicyMetrics, type Enforcement, type PolicyMetrics } from './metrics.js'
import { type Binding, type BoundPolicy, createPolicySource, type PolicyObjects } from './source.js'

export interface ValidatingPolicyEnv extends PolicyEnv {
  readonly validatingPolicies: PolicyObjects
  readonly authorizer: GetAuthorizer
  readonly metrics: MetricsRegistry
}

interface ValidatingPolicy extends PolicyPrograms {
  readonly validations: readonly Validation[]
  readonly expressions: readonly PolicyExpression[]
  readonly messageExpressions: readonly (PolicyExpression | undefined)[]
  readonly annotations: readonly Annotation[]
  /** The decisions if all validations are met. */
  readonly allMet: readonly undefined[]
  /** Whether an expression reads the namespace of the request. */
  readonly readsNamespace: boolean
}

interface Validation {
  readonly expression: PolicyExpression
  readonly message: string
  readonly reason: string
}

interface Annotation {
  readonly key: string
  readonly value: PolicyExpression
}

type Bound = BoundPolicy<ValidatingPolicy>

/** A reason to refuse the request. */
interface Denial {
  readonly policy: Bound
  readonly binding: Binding | undefined
  readonly message: string
  readonly reason?: string | undefined
}

export function validatingAdmissionPolicy(env: ValidatingPolicyEnv): AdmissionPlugin {
  const source = createPolicySource(env.validatingPolicies, compileValidating)
  const metrics = createPolicyMetrics(env.metrics, 'validating')
  const evaluateConditions = countedConditions(env.metrics, 'policy', 'validate')
  return {
    name: 'ValidatingAdmissionPolicy',
    operations: new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']),
    validate(attributes) {
      if (isExcluded(attributes.resource)) return undefined
      const candidates = source(attributes)
      if (candidates.length === 0) return undefined
      const policies = candidates.filter(policy => mayApply(policy, attributes))
      return policies.length === 0 ? undefined : validate(env, metrics, evaluateConditions, policies, attributes)
    },
  }
}

function compileValidating(object: ApiObject): ValidatingPolicy {
  const programs = compilePolicy(object)
  const { spec, compiler } = programs
  const validations = objectsAt(spec, 'validations').map((rule): Validation => {
    return {
      expression: new LazyExpression(stringAt(rule, 'expression'), compiler.validation),
      message: stringAt(rule, 'message').trim(),
      reason: stringAt(rule, 'reason') || 'Invalid',
    }
  })
  const expressions = validations.map(({ expression }) => expression)
  const messageExpressions = objectsAt(spec, 'validations').map(rule => {
    const text = stringAt(rule, 'messageExpression')
    return text === '' ? undefined : new LazyExpression(text, compiler.message)
  })
  const annotations = objectsAt(spec, 'auditAnnotations').map((annotation): Annotation => {
    const value = new LazyExpression(stringAt(annotation, 'valueExpression'), compiler.annotation)
    return { key: stringAt(annotation, 'key'), value }
  })
  const all = [
    ...expressions,
    ...messageExpressions.flatMap(each => each ?? []),
    ...annotations.map(({ value }) => value),
  ]
  const allMet = validations.map(() => undefined)
  const readsNamespace = mayReadNamespace(programs, all)
  return { ...programs, validations, expressions, messageExpressions, annotations, allMet, readsNamespace }
}

function validate(
  env: ValidatingPolicyEnv,
  metrics: PolicyMetrics,
  evaluateConditions: EvaluateConditions,
  policies: readonly Candidate<Bound>[],
  attributes: Attributes,
): Awaitable<void> {
  return andThen(findApplicable(policies, attributes, env), ({ invocations, errors }) => {
    const denials: Denial[] = errors.filter(({ policy }) => policy.compiled.failurePolicy === 'Fail')
    const published = new Map<string, string[]>()
    /** The first failure of each policy whose failures are ignored. */
    const ignored = new Map<string, string>()
    const needsNamespace = invocations.some(({ policy }) => policy.compiled.readsNamespace)
    return andThen(needsNamespace ? namespaceObject(attributes, env) : null, namespace => {
      const inputsOf = createInputs(attributes, env, celValueOf(namespace))
      const turns = startTurnsOf(attributes.request)
      const checkOne = (invocation: Invocation<ValidatingPolicy>): Awaitable<void> =>
        andThen(inputsOf(invocation), inputs => {
          const { policy, binding } = invocation
          const begin = performance.now()
          const result = evaluatePolicy(policy.compiled, inputs, turns, conditions =>
            evaluateConditions(conditions, policy.name, attributes.operation, { ...inputs, namespaceObject: null }),
          )
          return andThen(result, ({ decisions, annotations }) => {
            // Reading the clock takes as long as a short expression, so that all of a policy are measured together.
            const seconds = (performance.now() - begin) / 1000 / (decisions.length || 1)
            const checks = metrics.of(policy.name, binding)
            if (decisions === policy.compiled.allMet) checks.met(decisions.length, seconds)
            else {
              for (const [i, violation] of decisions.entries()) {
                if (violation === undefined || violation.isIgnored) {
                  if (violation && !ignored.has(policy.name)) ignored.set(policy.name, violation.message)
                  checks.checked(violation?.message, 'allow', seconds)
                  continue
                }
                const actions = stringsAt(binding.spec, 'validationActions')
                for (const action of actions)
                  checks.checked(violation.message, action.toLowerCase() as Enforcement, seconds)
                denials.push(...act(violation, i, actions, policy, binding, attributes))
              }
            }
            for (const { key, value, error } of annotations) {
              if (error !== undefined) denials.push({ policy, binding, message: error })
              else if (value !== undefined) addValue(published, `${policy.name}/${key}`, value)
            }
          })
        })
      return andThen(eachInTurns(invocations, checkOne, turns), () => {
        const { request } = attributes
        for (const [key, values] of published) request.annotate(key, values.join(', '))
        for (const [policy, why] of ignored) logIgnored(request, policy, why)
        if (denials.length > 0) throw logRefusal(request, refusal(denials[0]!, attributes))
      })
    })
  })
}

/** The variables of expressions. Policies that match the same version share all but the parameters. */
function createInputs(
  attributes: Attributes,
  { authorizer }: ValidatingPolicyEnv,
  namespace: Value,
): (invocation: Invocation<unknown>) => Awaitable<Variables> {
  const known = new Map<MatchedResource, Variables>()
  return ({ matched, params }) => {
    const withParams = (common: Variables): Variables => (params ? { ...common, params: celValueOf(params) } : common)
    const common = known.get(matched)
    if (common) return withParams(common)
    return andThen(attributes.inVersion(matched.kind), objects => {
      const more = { namespaceObject: namespace, params: null, variables: NO_VARIABLES }
      const variables = admissionVariables(attributes, matched, objects, authorizer(), more)
      known.set(matched, variables)
      return withParams(variables)
    })
  }
}

// ---- one policy

interface Violation {
  readonly message: string
  /** Empty if the expression could not be evaluated. */
  readonly reason: string
  /** It could not be evaluated, and failures are ignored. */
  readonly isIgnored: boolean
}

/** Undefined if the expression is met. */
type Decision = Violation | undefined

interface AnnotationResult {
  readonly key: string
  readonly value?: string | undefined
  readonly error?: string | undefined
}

interface PolicyResult {
  /** One for each validation, or one for a failure of all of them. */
  readonly decisions: readonly Decision[]
  readonly annotations: readonly AnnotationResult[]
}

const NO_RESULT: PolicyResult = { decisions: [], annotations: [] }

function evaluatePolicy(
  policy: ValidatingPolicy,
  inputs: Variables,
  turns: Turns,
  evaluateConditions: (conditions: MatchConditions) => MatchResult,
): Awaitable<PolicyResult> {
  const { conditions, expressions } = policy
  if (!conditions.isEmpty) {
    const { matches, ...result } = evaluateConditions(conditions)
    if (matches === undefined) return failedResult(policy, (result as { error: string }).error)
    if (!matches) return NO_RESULT
  }
  const evaluation = new PolicyEvaluation(policy, inputs)
  const withoutThem = (): Variables => withoutAuthorizer(inputs)
  return orElse(
    () =>
      andThen(evaluation.evaluateAll(expressions, turns), results => {
        const decisions = results.every(value => value === true)
          ? policy.allMet
          : withMessages(policy, results, new PolicyEvaluation(policy, withoutThem(), evaluation.left), turns)
        return andThen(decisions, each => {
          if (policy.annotations.length === 0) return { ...NO_RESULT, decisions: each }
          const annotations = evaluateAnnotations(policy, new PolicyEvaluation(policy, withoutThem()), turns)
          return andThen(annotations, found => ({ decisions: each, annotations: found }))
        })
      }),
    error => {
      if (!(error instanceof OutOfBudget)) throw error
      return failedResult(policy, error.message)
    },
  )
}

/** Messages and annotations cannot ask the authorizer, not even by a variable. */
function withoutAuthorizer(inputs: Variables): Variables {
  const { authorizer: _, 'authorizer.requestResource': __, ...others } = inputs
  return others
}

const failedResult = (policy: PolicyPrograms, message: string): PolicyResult => ({
  ...NO_RESULT,
  decisions: [failed(policy, message)],
})

/** An expression that cannot be evaluated counts as a violation unless failures are ignored. */
const failed = ({ failurePolicy }: PolicyPrograms, message: string): Violation => ({
  message,
  reason: '',
  isIgnored: failurePolicy === 'Ignore',
})

function withMessages(
  policy: ValidatingPolicy,
  results: readonly Value[],
  evaluation: PolicyEvaluation,
  turns: Turns,
): Awaitable<readonly Decision[]> {
  return andThen(evaluateMessages(policy, evaluation, turns), messages =>
    results.map((value, i) => {
      if (value instanceof CelError) return failed(policy, value.message)
      if (messages instanceof OutOfBudget) return failed(policy, `failed messageExpression: ${messages.message}`)
      if (value === true) return undefined
      const { message, expression, reason } = policy.validations[i]!
      const shown = usableMessage(messages[i]!) || message || `failed expression: ${expression.text.trim()}`
      return { message: shown, reason, isIgnored: false }
    }),
  )
}

/** All messages are made, since all of them count in the budget. */
const evaluateMessages = (
  { messageExpressions }: ValidatingPolicy,
  evaluation: PolicyEvaluation,
  turns: Turns,
): Awaitable<readonly Value[] | OutOfBudget> =>
  orElse<readonly Value[] | OutOfBudget>(
    () => evaluation.evaluateAll(messageExpressions, turns),
    error => {
      if (error instanceof OutOfBudget) return error
      throw error
    },
  )

const MAX_MESSAGE = 5 * 1024

/** Empty for messages that are too long or have several lines. */
function usableMessage(value: Value): string {
  const message = typeof value === 'string' ? value.trim() : ''
  return message.includes('\n') || Buffer.byteLength(message) > MAX_MESSAGE ? '' : message
}

const MAX_ANNOTATION = 10 * 1024

function evaluateAnnotations(
  { annotations, failurePolicy }: ValidatingPolicy,
  evaluation: PolicyEvaluation,
  turns: Turns,
): Awaitable<readonly AnnotationResult[]> {
  const expressions = annotations.map(({ value }) => value)
  return andThen(evaluation.evaluateAll(expressions, turns), values =>
    values.map((value, i) => {
      const { key } = annotations[i]!
      if (value instanceof CelError) return { key, error: failurePolicy === 'Ignore' ? undefined : value.message }
      const text = typeof value === 'string' ? value.trim() : ''
      return { key, value: text === '' ? undefined : text.slice(0, MAX_ANNOTATION) }
    }),
  )
}

// ---- what follows from a violation

/** Carries out the actions of the binding; what refuses the request is returned. */
function act(
  { message, reason }: Violation,
  index: number,
  actions: readonly string[],
  policy: Bound,
  binding: Binding,
  { request }: Attributes,
): Denial[] {
  const denials: Denial[] = []
  for (const action of actions) {
    if (action === 'Deny') denials.push({ policy, binding, message, reason })
    else if (action === 'Warn') {
      request.warn(
        `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
      )
    } else if (action === 'Audit') {
      const failure = {
        message,
        policy: policy.name,
        binding: binding.name,
        expressionIndex: index,
        validationActions: [...actions],
      }
      request.annotate('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure]))
    }
  }
  return denials
}

/** Bindings may give one annotation several values. */
function addValue(published: Map<string, string[]>, key: string, value: string): void {
  const values = published.get(key)
  if (!values) published.set(key, [value])
  else if (!values.includes(value)) values.push(value)
}

const CODES: Readonly<Record<string, number>> = {
  Forbidden: 403,
  RequestEntityTooLarge: 413,
}

function refusal({ policy, binding, message, reason }: Denial, attributes: Attributes): StatusError {
  const by = binding ? ` with binding '${binding.name}'` : ''
  const why = `ValidatingAdmissionPolicy '${policy.name}'${by} denied request: ${message}`
  const { status } = forbiddenBy(attributes, why)
  const shown = (reason || 'Invalid') as NonNullable<Status['reason']>
  return new StatusError({
    ...status,
    reason: shown,
    code: CODES[shown] ?? 422,
    details: { ...status.details, causes: [{ message: why }] },
  })
}
