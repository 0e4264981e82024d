// ValidatingAdmissionPolicy: expressions that an object must meet. The actions of a binding decide whether a violation
// refuses the request, adds a warning or an audit annotation.

import type { GetAuthorizer } from '../../auth/authorizer.js'
import { type Awaitable, andThen, eachInTurn } from '../../base/awaitable.js'
import type { MetricsRegistry } from '../../base/metrics.js'
import type { AdmissionProgram } from '../../builtin/admission-expressions.js'
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
  NO_VARIABLES,
  OutOfBudget,
  PolicyEvaluation,
  type PolicyExpression,
  type PolicyPrograms,
  refersTo,
} from './compile.js'
import { createPolicyMetrics, type Enforcement, type PolicyMetrics } from './metrics.js'
import { type Binding, type BoundPolicy, createPolicySource, type PolicyObjects } from './source.js'

export interface ValidatingPolicyEnv extends PolicyEnv {
  readonly validatingPolicies: PolicyObjects
  readonly authorizer: GetAuthorizer
  readonly metrics: MetricsRegistry
}

interface ValidatingPolicy extends PolicyPrograms {
  readonly validations: readonly Validation[]
  readonly annotations: readonly Annotation[]
  /** The decisions if all validations are met. */
  readonly allMet: readonly undefined[]
  /** Whether an expression reads the namespace of the request. */
  readonly readsNamespace: boolean
}

interface Validation extends PolicyExpression {
  readonly message: string
  readonly messageExpression: PolicyExpression | undefined
  readonly reason: string
}

interface Annotation extends PolicyExpression {
  readonly key: string
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
  const { spec, compiler, variables } = programs
  const validations = objectsAt(spec, 'validations').map((rule): Validation => {
    const text = stringAt(rule, 'expression')
    const message = stringAt(rule, 'messageExpression')
    return {
      text,
      compiled: compiler.validation(text),
      message: stringAt(rule, 'message').trim(),
      messageExpression: message === '' ? undefined : { text: message, compiled: compiler.message(message) },
      reason: stringAt(rule, 'reason') || 'Invalid',
    }
  })
  const annotations = objectsAt(spec, 'auditAnnotations').map((annotation): Annotation => {
    const text = stringAt(annotation, 'valueExpression')
    return { key: stringAt(annotation, 'key'), text, compiled: compiler.annotation(text) }
  })
  const all: AdmissionProgram[] = [
    ...variables.values(),
    ...validations.flatMap(({ compiled, messageExpression }) => [compiled, messageExpression?.compiled ?? compiled]),
    ...annotations.map(({ compiled }) => compiled),
  ]
  const allMet = validations.map(() => undefined)
  return { ...programs, validations, annotations, allMet, readsNamespace: refersTo('namespaceObject', all) }
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
    const needsNamespace = invocations.some(({ policy }) => policy.compiled.readsNamespace)
    return andThen(needsNamespace ? namespaceObject(attributes, env) : null, namespace => {
      const inputsOf = createInputs(attributes, env, celValueOf(namespace))
      const checkOne = (invocation: Invocation<ValidatingPolicy>): Awaitable<void> =>
        andThen(inputsOf(invocation), inputs => {
          const { policy, binding } = invocation
          const begin = performance.now()
          const { decisions, annotations } = evaluatePolicy(policy.compiled, inputs, conditions =>
            evaluateConditions(conditions, policy.name, attributes.operation, { ...inputs, namespaceObject: null }),
          )
          // Reading the clock takes as long as a short expression, so that all of a policy are measured together.
          const seconds = (performance.now() - begin) / 1000 / (decisions.length || 1)
          const checks = metrics.of(policy.name, binding)
          if (decisions === policy.compiled.allMet) checks.met(decisions.length, seconds)
          else {
            for (const [i, violation] of decisions.entries()) {
              if (violation === undefined || violation.isIgnored) {
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
      return andThen(eachInTurn(invocations, checkOne), () => {
        for (const [key, values] of published) attributes.request.annotate(key, values.join(', '))
        if (denials.length > 0) throw refusal(denials[0]!, attributes)
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
  evaluateConditions: (conditions: MatchConditions) => MatchResult,
): PolicyResult {
  const { conditions, validations, annotations } = policy
  if (!conditions.isEmpty) {
    const { matches, ...result } = evaluateConditions(conditions)
    if (matches === undefined) return failedResult(policy, (result as { error: string }).error)
    if (!matches) return NO_RESULT
  }
  try {
    const evaluation = new PolicyEvaluation(policy, inputs)
    const results = validations.map(validation => evaluation.evaluate(validation))
    const decisions = results.every(value => value === true)
      ? policy.allMet
      : withMessages(policy, results, new PolicyEvaluation(policy, withoutAuthorizer(inputs), evaluation.left))
    return { decisions, annotations: evaluateAnnotations(policy, annotations, inputs) }
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    return failedResult(policy, error.message)
  }
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

function withMessages(policy: ValidatingPolicy, results: readonly Value[], evaluation: PolicyEvaluation): Decision[] {
  const messages = evaluateMessages(policy.validations, evaluation)
  return results.map((value, i) => {
    if (value instanceof CelError) return failed(policy, value.message)
    if (messages instanceof OutOfBudget) return failed(policy, `failed messageExpression: ${messages.message}`)
    if (value === true) return undefined
    const { message, text, reason } = policy.validations[i]!
    return { message: messages[i] || message || `failed expression: ${text.trim()}`, reason, isIgnored: false }
  })
}

/** All messages are made, since all of them count in the budget. */
function evaluateMessages(
  validations: readonly Validation[],
  evaluation: PolicyEvaluation,
): readonly string[] | OutOfBudget {
  try {
    return validations.map(({ messageExpression }) =>
      messageExpression ? usableMessage(evaluation.evaluate(messageExpression)) : '',
    )
  } catch (error) {
    if (error instanceof OutOfBudget) return error
    throw error
  }
}

const MAX_MESSAGE = 5 * 1024

/** Empty for messages that are too long or have several lines. */
function usableMessage(value: Value): string {
  const message = typeof value === 'string' ? value.trim() : ''
  return message.includes('\n') || Buffer.byteLength(message) > MAX_MESSAGE ? '' : message
}

const MAX_ANNOTATION = 10 * 1024

function evaluateAnnotations(
  policy: ValidatingPolicy,
  annotations: readonly Annotation[],
  inputs: Variables,
): readonly AnnotationResult[] {
  if (annotations.length === 0) return NO_RESULT.annotations
  const evaluation = new PolicyEvaluation(policy, withoutAuthorizer(inputs))
  return annotations.map(annotation => {
    const { key } = annotation
    const value = evaluation.evaluate(annotation)
    if (value instanceof CelError) return { key, error: policy.failurePolicy === 'Ignore' ? undefined : value.message }
    const text = typeof value === 'string' ? value.trim() : ''
    return { key, value: text === '' ? undefined : text.slice(0, MAX_ANNOTATION) }
  })
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
