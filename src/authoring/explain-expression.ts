// One expression, tried out: its result and type, and what it may cost and did cost, part by part. In the environment of
// validation rules `self` is typed by a schema; in that of admission policies there are `object`, `request` and others.

import {
  AuthorizerValue,
  type CelType,
  type Value as CelValue,
  type Checked,
  compile,
  type Environment,
  type Expr,
  estimateCost,
  type Interval,
  type Issue,
  isError,
  MAX_WORK,
  type PartTrace,
  partsBelow,
  positionIn,
  printExpression,
  printType,
  type SizeEstimator,
  toPlain,
  traceEvaluation,
  UNBOUNDED,
  type Variables,
} from '../cel/index.js'
import type { Value } from '../meta/values/value.js'
import { RULE_COST_LIMIT, sizesOf } from '../schema/rules.js'
import type { Type } from '../types/type.js'
import { ruleSetting } from './cel-setting.js'
import type { CostRange, ExplainedExpression, ExplainedPart, ExpressionError } from './explained-expression.js'
import { EXPRESSION_COST_LIMIT, policySetting } from './policy-costs.js'

export interface ExpressionInput {
  readonly environment: 'rule' | 'policy'
  readonly expression: string
  readonly object?: Value | undefined
  readonly oldObject?: Value | undefined
  /** What the object is; dynamic when absent. */
  readonly type?: Type | undefined
  /** For a rule: where in the object it is, `spec.items[0]`; `self` is the value there. */
  readonly path?: string | undefined
  readonly params?: Value | undefined
  readonly request?: Value | undefined
  readonly namespaceObject?: Value | undefined
  /** Variables of a policy, in their order. */
  readonly variables?: readonly { readonly name: string; readonly expression: string }[] | undefined
  /** For `authorizer` of policies. */
  readonly authorizer?: AuthorizerValue | undefined
}

/** The most parts that are shown. */
const MAX_PARTS = 500
const MAX_TEXT = 300

/** What one evaluation may cost in admission and in validation, and less other work than there, since parts are watched. */
const LIMITS = { costLimit: EXPRESSION_COST_LIMIT, workLimit: MAX_WORK / 4 }

interface Setting {
  readonly environment: Environment
  readonly inputs: Variables
  readonly sizes: SizeEstimator
  readonly estimateLimit?: number
  /** Whether there are values to evaluate it with. */
  readonly hasValues: boolean
}

export function explainExpression(input: ExpressionInput): ExplainedExpression {
  const setting = settingOf(input)
  const compiled = compile(input.expression, setting.environment)
  if (!compiled.ok) {
    const inOrder = compiled.issues.toSorted((a, b) => a.offset - b.offset)
    return { ok: false, errors: inOrder.map(issue => located(input.expression, issue)) }
  }
  const { program } = compiled
  const checked = program.checked!
  const estimates = new Map<Expr, Interval>()
  const whole = estimateCost(checked, setting.environment, setting.sizes, {
    visit: ({ expr, cost }) => void estimates.set(expr, cost),
  })
  const traced = setting.hasValues ? traceEvaluation(checked, setting.environment, setting.inputs, LIMITS) : undefined
  const parts = { checked, estimates, traces: traced?.parts, left: MAX_PARTS }
  return {
    ok: traced?.error === undefined,
    ...(traced?.value !== undefined && { value: jsonOf(traced.value) }),
    ...(traced?.error && { errors: [{ message: traced.error.message }] }),
    type: printType(program.type),
    cost: { actual: traced?.cost, estimate: rangeOf(whole), limit: LIMITS.costLimit, ...limitOf(setting) },
    tree: explainPart(program.expr, false, parts),
  }
}

function settingOf(input: ExpressionInput): Setting {
  const { object, oldObject = null, type, params = null, request = null, namespaceObject, variables = [] } = input
  const hasValues = object !== undefined
  if (input.environment === 'rule') {
    const { environment, inputs, declared } = ruleSetting(input)
    return {
      environment,
      inputs,
      sizes: declared ? sizesOf(declared) : NO_SIZES,
      hasValues,
      estimateLimit: RULE_COST_LIMIT,
    }
  }
  const { authorizer } = input
  const setting = policySetting(
    variables,
    { object: object ?? null, oldObject, params, request, namespaceObject },
    authorizer ? { authorizer } : {},
  )
  // Values of policies are dynamic, but the schema of the object says how large its parts may get.
  const declared = type && ruleSetting({ type }).declared
  const sizes = declared ? withRoots(sizesOf(declared), ['object', 'oldObject']) : NO_SIZES
  return { ...setting, sizes, hasValues }
}

const limitOf = ({ estimateLimit }: Setting) => (estimateLimit === undefined ? {} : { estimateLimit })

const NO_SIZES: SizeEstimator = { sizeOf: () => undefined }

const withRoots = ({ sizeOf }: SizeEstimator, roots: readonly string[]): SizeEstimator => ({
  sizeOf: node => (roots.includes(node.path[0] ?? '') ? sizeOf(node) : undefined),
})

// ---- parts

interface Parts {
  readonly checked: Checked
  readonly estimates: ReadonlyMap<Expr, Interval>
  readonly traces: ReadonlyMap<Expr, PartTrace> | undefined
  /** How many more parts may be shown. */
  left: number
}

function explainPart(expr: Expr, repeated: boolean, parts: Parts): ExplainedPart {
  parts.left--
  const estimate = parts.estimates.get(expr)
  const trace = parts.traces?.get(expr)
  const children: ExplainedPart[] = []
  for (const below of partsBelow(expr)) {
    if (parts.left <= 0) break
    children.push(explainPart(below.expr, below.repeated, parts))
  }
  return {
    text: shortened(printExpression(expr)),
    type: typeOf(parts.checked, expr),
    ...(repeated && { repeated }),
    ...(estimate && { estimate: rangeOf(estimate) }),
    ...(trace && { actual: trace.cost }),
    evaluations: trace?.evaluations ?? 0,
    ...resultOf(trace?.value),
    children,
  }
}

const typeOf = ({ types }: Checked, { id }: Expr): string => printType(types[id] ?? DYN)
const DYN: CelType = { kind: 'dyn', name: 'dyn', params: [] }

const resultOf = (value: CelValue | undefined): { readonly value?: string; readonly error?: string } => {
  if (value === undefined) return {}
  return isError(value) ? { error: value.message } : { value: shortened(JSON.stringify(jsonOf(value)) ?? 'none') }
}

const rangeOf = ({ min, max }: Interval): CostRange => (max >= UNBOUNDED ? { min } : { min, max })

const shortened = (text: string): string => (text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`)

// ---- values and errors

/** Without what JSON does not have: large ints and bytes are texts, Maps are lists of their entries. */
function jsonOf(value: CelValue): unknown {
  const text = JSON.stringify(toPlain(value), (_, each: unknown) => {
    if (typeof each === 'bigint') return Number.isSafeInteger(Number(each)) ? Number(each) : each.toString()
    if (each instanceof Map) return [...each]
    return each instanceof Uint8Array ? Buffer.from(each).toString('base64') : each
  })
  if (text === undefined) return undefined
  return text.length <= MAX_VALUE ? JSON.parse(text) : shortened(text)
}

const MAX_VALUE = 256 * 1024

function located(expression: string, { message, offset }: Issue): ExpressionError {
  if (offset < 0) return { message }
  return { message, offset, ...positionIn(expression, offset) }
}
