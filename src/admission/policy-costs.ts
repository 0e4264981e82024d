// What the expressions of one policy cost on an object, by the evaluation that admission does.

import { CelError, type Environment, type Value, type Variables } from '../cel/index.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { objectsAt, stringAt } from '../meta/values/access.js'
import type { Value as Json } from '../meta/values/value.js'
import { celValueOf } from '../types/cel-types.js'
import { COST_BUDGET, compilePolicy, OutOfBudget, PolicyEvaluation, type PolicyExpression } from './policies/compile.js'

export { COST_BUDGET }
/** The most that one expression may cost. */
export const EXPRESSION_COST_LIMIT = 1_000_000

export interface ExpressionCost {
  /** `validations[0].expression`. */
  readonly at: string
  readonly text: string
  /** Why it does not compile, or cannot be evaluated. */
  readonly error: string | undefined
  /** Undefined without an object. Variables count where they are first read. */
  readonly cost: number | undefined
  readonly value: Value | undefined
}

export interface PolicyInputs {
  readonly object: Json
  readonly oldObject: Json
  readonly params: Json
  readonly request: Json
  readonly namespaceObject?: Json | undefined
}

/** Without inputs, the expressions are compiled only. */
export function explainPolicy(policy: ApiObject, inputs: PolicyInputs | undefined): readonly ExpressionCost[] {
  const programs = compilePolicy(policy)
  const { spec, compiler, variables } = programs
  const expressions: (PolicyExpression & { readonly at: string })[] = []
  for (const [i, variable] of objectsAt(spec, 'variables').entries()) {
    const compiled = variables.get(stringAt(variable, 'name'))!
    expressions.push({ at: `variables[${i}].expression`, text: stringAt(variable, 'expression'), compiled })
  }
  for (const [i, each] of objectsAt(spec, 'matchConditions').entries()) {
    const text = stringAt(each, 'expression')
    expressions.push({ at: `matchConditions[${i}].expression`, text, compiled: compiler.matchCondition(text) })
  }
  for (const [i, each] of objectsAt(spec, 'validations').entries()) {
    const text = stringAt(each, 'expression')
    expressions.push({ at: `validations[${i}].expression`, text, compiled: compiler.validation(text) })
    const message = stringAt(each, 'messageExpression')
    if (message === '') continue
    expressions.push({ at: `validations[${i}].messageExpression`, text: message, compiled: compiler.message(message) })
  }
  for (const [i, each] of objectsAt(spec, 'auditAnnotations').entries()) {
    const text = stringAt(each, 'valueExpression')
    expressions.push({ at: `auditAnnotations[${i}].valueExpression`, text, compiled: compiler.annotation(text) })
  }
  const evaluation = inputs && new PolicyEvaluation(programs, variablesOf(inputs))
  return expressions.map(expression => evaluateOne(expression, evaluation))
}

const variablesOf = ({ object, oldObject, params, request, namespaceObject = null }: PolicyInputs): Variables => ({
  object: celValueOf(object),
  oldObject: celValueOf(oldObject),
  params: celValueOf(params),
  request: celValueOf(request),
  namespaceObject: celValueOf(namespaceObject),
})

function evaluateOne(
  expression: PolicyExpression & { readonly at: string },
  evaluation: PolicyEvaluation | undefined,
): ExpressionCost {
  const { at, text, compiled } = expression
  const known = { at, text, cost: undefined, value: undefined, error: undefined }
  if (!compiled.ok) return { ...known, error: compiled.error }
  if (!evaluation) return known
  const before = evaluation.left
  try {
    const value = evaluation.evaluate(expression)
    const cost = before - evaluation.left
    return value instanceof CelError ? { ...known, error: value.message, cost } : { ...known, value, cost }
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error
    return { ...known, error: error.message }
  }
}

// ---- one expression, for authors who try it out

export interface PolicySetting {
  readonly environment: Environment
  readonly inputs: Variables
}

/** What an expression of a policy with these variables may refer to, and the values for one request. */
export function policySetting(
  variables: readonly { readonly name: string; readonly expression: string }[],
  inputs: PolicyInputs,
  further: Variables,
): PolicySetting {
  const spec = { paramKind: {}, variables: variables.map(each => ({ ...each })) }
  const programs = compilePolicy({ apiVersion: '', kind: '', metadata: {}, spec })
  const evaluation = new PolicyEvaluation(programs, { ...variablesOf(inputs), ...further })
  return { environment: programs.compiler.environment, inputs: evaluation.inputs }
}
