// Rules at work: every rule of a schema on an object and, on an update, on what it was before. A rule may cost only so
// much, and all rules of an object together likewise; once that is spent, no further rule is evaluated.
//
// A failed rule is tolerated, with a warning, where its value did not change (ratcheting), unless it is a transition
// rule or could not be evaluated.
import {
  type CelError,
  type Evaluation,
  MAX_WORK,
  OPTIONAL_NONE,
  OptionalValue,
  type Program,
  type Variables,
} from '../../cel/index.js'
import { MAX_FOUND } from '../../meta/errors/error-limit.js'
import {
  type BadValue,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  printFieldError,
} from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { escapeName } from '../../types/cel-types.js'
import { followFieldPath } from '../structure/field-path.js'
import type { Rule, Schema } from '../structure/structural.js'
import { type Correlated, correlate, correlatedItem, correlatedMember, isUnchanged } from '../validate/correlate.js'
import { type CompiledRule, nodesOf, type RuleNode } from './rule-node.js'

export interface RuleFindings {
  readonly errors: readonly FieldError[]
  /** Failures that are tolerated because the value is unchanged. */
  readonly warnings: readonly string[]
}

export const NO_FINDINGS: RuleFindings = { errors: [], warnings: [] }

/** What one evaluation may cost. */
const CALL_LIMIT = 1_000_000
/** What all evaluations for one object may cost. */
const OBJECT_BUDGET = 10_000_000
/** Work of all evaluations for one object that costs do not cover. */
const OBJECT_WORK = MAX_WORK
/** How many bytes a message may have that an expression made. */
const MAX_MESSAGE = 5 * 1024

/** One rule on one value. */
export interface EvaluatedRule {
  readonly field: string
  readonly compiled: CompiledRule
  /** True for a transition rule where nothing was before. */
  readonly skipped: boolean
  readonly cost: number
  readonly errors: readonly FieldError[]
}

/** `observe` is called with every rule that is reached. */
export function evaluateRules(
  root: RuleNode,
  object: ValueObject,
  old: ValueObject | undefined,
  observe?: (rule: EvaluatedRule) => void,
): RuleFindings {
  const run = startRun('', false, FULL_LIMITS, observe)
  visit(run, root, object, old === undefined ? undefined : correlate(object, old, root.schema))
  return run
}

/** Whether there is a rule that some object would be given to. Rules of hidden nodes are none. */
export function reachesRules(node: RuleNode): boolean {
  if (node.declared === undefined) return false
  if (node.schema.extensions.rules.length > 0) return true
  const below = [node.items, node.additionalProperties].filter(child => child !== undefined)
  for (const [name, property] of node.properties) if (isVisited(node, name)) below.push(property)
  return below.some(reachesRules)
}

/**
 * The errors that rules find in the defaults of a schema. For a transition rule the old value is the default too; with
 * optionalOldSelf there is no old value.
 */
export function defaultEvaluator(root: RuleNode): (value: Value, schema: Schema, at: string) => readonly FieldError[] {
  const nodes = nodesOf(root)
  let left: Readonly<Limits> = FULL_LIMITS
  return (value, schema, at) => {
    const node = nodes.get(schema)
    if (node === undefined || left.budget < 0) return []
    const run = startRun(at, true, left)
    visit(run, node, value, undefined)
    left = run
    return run.errors
  }
}

interface Run extends Limits {
  /** The field of the object. */
  readonly at: string
  /** From the object to the present value: `.name`, `[key]`, and indexes of lists. */
  readonly path: (string | number)[]
  readonly isDefault: boolean
  readonly errors: FieldError[]
  readonly warnings: string[]
  readonly observe?: ((rule: EvaluatedRule) => void) | undefined
}

/** What evaluations may still spend. */
interface Limits {
  /** Cost; negative once nothing more is to be evaluated. */
  budget: number
  /** Work that costs do not cover. */
  work: number
}

const FULL_LIMITS: Readonly<Limits> = { budget: OBJECT_BUDGET, work: OBJECT_WORK }

const startRun = (
  at: string,
  isDefault: boolean,
  { budget, work }: Readonly<Limits>,
  observe?: Run['observe'],
): Run => ({
  at,
  path: [],
  isDefault,
  errors: [],
  warnings: [],
  budget,
  work,
  observe,
})

/** `pair` is the value beside what it was before, where there is anything to compare with. */
function visit(run: Run, node: RuleNode, value: Value, pair: Correlated | undefined): void {
  // Rules are evaluated for values, not for null. Hidden nodes are skipped.
  if (value === null || node.declared === undefined) return
  if (node.schema.extensions.rules.length > 0) {
    if (node.isOutsideTypes) cannotEvaluate(run, node, NO_TYPE)
    else evaluateNode(run, node, value, pair)
  }
  if (Array.isArray(value)) {
    const { items } = node
    if (items === undefined) return
    const step = run.path.length
    for (let i = 0; i < value.length && run.budget >= 0; i++) {
      run.path[step] = i
      visit(run, items, value[i]!, pair && correlatedItem(pair, i))
    }
    run.path.length = step
  } else if (isObject(value)) visitMembers(run, node, value, pair)
}

function visitMembers(run: Run, node: RuleNode, value: ValueObject, pair: Correlated | undefined): void {
  const { properties, additionalProperties } = node
  const step = run.path.length
  if (additionalProperties !== undefined) {
    for (const key of Object.keys(value)) {
      if (run.budget < 0) break
      run.path[step] = `[${key}]`
      visit(run, additionalProperties, value[key]!, pair && correlatedMember(pair, key))
    }
  }
  for (const [name, property] of properties) {
    if (run.budget < 0) break
    if (!isVisited(node, name)) continue
    const member = getOwn(value, name)
    if (member === undefined) continue
    run.path[step] = `.${name}`
    visit(run, property, member, pair && correlatedMember(pair, name))
  }
  run.path.length = step
}

/** A property has the type of a field of the object around it, unless no expression can spell its name. */
const isVisited = ({ isOutsideTypes }: RuleNode, property: string): boolean =>
  !isOutsideTypes || escapeName(property) === undefined

function fieldOf({ at, path }: Run): string {
  let text = at
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : step
  return text.startsWith('.') ? text.slice(1) : text
}

// ---- the rules of one value

function evaluateNode(run: Run, node: RuleNode, value: Value, pair: Correlated | undefined): void {
  const { read } = node
  if (read === undefined) return
  const old = run.isDefault ? value : (pair?.old ?? undefined)
  const begin = node.metrics && performance.now()
  evaluateAll(run, node, value, pair, old, variablesOf(value, old, read, run.isDefault))
  if (begin !== undefined) node.metrics!.evaluated((performance.now() - begin) / 1000)
}

function evaluateAll(
  run: Run,
  node: RuleNode,
  value: Value,
  pair: Correlated | undefined,
  old: Value | undefined,
  variables: RuleVariables,
): void {
  for (const compiled of node.rules) {
    if (run.budget < 0) return
    const { rule, program, error, usesOldSelf } = compiled
    const before = { budget: run.budget, errors: run.errors.length }
    if (error !== undefined) cannotEvaluate(run, node, `rule compile error: ${error}`)
    // A transition rule is not evaluated without an old value.
    const skipped = usesOldSelf && old === undefined && rule.optionalOldSelf !== true
    if (program !== undefined && !skipped) evaluateRule(run, node, compiled, program, value, pair, variables)
    run.observe?.({
      field: fieldOf(run),
      compiled,
      skipped,
      cost: before.budget - Math.max(run.budget, 0),
      errors: run.errors.slice(before.errors),
    })
  }
}

interface RuleVariables {
  readonly plain: Variables
  /** The same for rules to which the old value is an optional. */
  readonly optional: Variables
}

/** `old` is undefined where nothing was there before. */
function variablesOf(
  value: Value,
  old: Value | undefined,
  read: NonNullable<RuleNode['read']>,
  isDefault: boolean,
): RuleVariables {
  const self = read(value)
  if (old === undefined) return { plain: { self }, optional: { self, oldSelf: OPTIONAL_NONE } }
  const oldSelf = read(old)
  const optional = isDefault ? OPTIONAL_NONE : new OptionalValue(oldSelf)
  return { plain: { self, oldSelf }, optional: { self, oldSelf: optional } }
}

function evaluateRule(
  run: Run,
  node: RuleNode,
  compiled: CompiledRule,
  program: Program,
  value: Value,
  pair: Correlated | undefined,
  { plain, optional }: RuleVariables,
): void {
  const { rule, usesOldSelf } = compiled
  const evaluation = evaluate(run, program, rule.optionalOldSelf === true ? optional : plain)
  if (evaluation.cost > run.budget) {
    cannotEvaluate(run, node, OUT_OF_BUDGET)
    run.budget = STOPPED
    return
  }
  run.budget -= evaluation.cost
  if (evaluation.error !== undefined) {
    cannotEvaluate(run, node, reasonOf(evaluation, evaluation.error, rule))
    if (evaluation.limitExceeded === true) run.budget = STOPPED
    return
  }
  if (evaluation.value === true) return
  const field = `${fieldOf(run)}${fieldBelow(rule.fieldPath, node.schema)}`
  // The old value is no optional to the expression that makes the message, whatever it is to the rule.
  const error = failure(run, node, compiled, plain, field, value)
  // Ratcheting: what failed before and did not change stays.
  if (usesOldSelf || pair === undefined || !isUnchanged(pair)) report(run, error)
  else if (run.warnings.length < MAX_FOUND) run.warnings.push(printFieldError(error))
}

function report({ errors }: Run, error: FieldError): void {
  if (errors.length < MAX_FOUND) errors.push(error)
}

function evaluate(run: Run, program: Program, variables: Variables): Evaluation {
  const workLimit = Math.min(MAX_WORK, run.work)
  const evaluation = program.evaluate(variables, { costLimit: CALL_LIMIT, workLimit })
  run.work -= evaluation.work
  return evaluation
}

/** The `fieldPath` of a rule names the field, below its own, at which a failure is reported. */
function fieldBelow(fieldPath: string, schema: Schema): string {
  const end = fieldPath === '' ? undefined : followFieldPath(fieldPath, schema, { brackets: true })
  return end?.ok === true ? `.${end.value.field}` : ''
}

const STOPPED = -1
const NO_TYPE = 'rule compiler initialization error: failed to convert to declType for CEL validation rules'
const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** A rule that could not be evaluated is reported with the type of its value. */
function cannotEvaluate(run: Run, { schema }: RuleNode, detail: string): void {
  report(run, fieldInvalid(fieldOf(run), schema.type, detail))
}

function reasonOf({ limitExceeded }: Evaluation, { message }: CelError, rule: Rule): string {
  const named = nameOf(rule)
  if (limitExceeded === true) {
    return `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${named}`
  }
  if (message.startsWith('no such overload')) {
    return `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${named}`
  }
  return `${message} evaluating rule: ${named}`
}

const nameOf = ({ rule, message }: Rule): string => (message === '' ? rule : message).trim()

// ---- errors of failed rules

function failure(
  run: Run,
  { schema }: RuleNode,
  compiled: CompiledRule,
  variables: Variables,
  field: string,
  value: Value,
): FieldError {
  const { rule } = compiled
  const made = compiled.messageProgram && makeMessage(run, compiled, variables)
  if (made?.error !== undefined) return fieldInvalid(field, schema.type, made.error)
  const detail = made?.message ?? (rule.message === '' ? `failed rule: ${nameOf(rule)}` : nameOf(rule))
  const shown: BadValue = typeof value === 'object' && isCompound(value) ? undefined : value
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return fieldForbidden(field, detail)
    case 'FieldValueRequired':
      return fieldRequired(field, detail)
    case 'FieldValueDuplicate':
      return fieldDuplicate(field, shown)
    default:
      return fieldInvalid(field, shown, detail)
  }
}

const isCompound = (value: Value): boolean => Array.isArray(value) || isObject(value)

interface MadeMessage {
  /** Left out where the expression gave nothing that can be shown. */
  readonly message?: string
  /** What ends the evaluation of all rules. */
  readonly error?: string
}

function makeMessage(run: Run, { rule, messageProgram }: CompiledRule, variables: Variables): MadeMessage {
  const { value, cost, limitExceeded } = evaluate(run, messageProgram!, variables)
  if (cost > run.budget || limitExceeded === true) {
    const isOverBudget = cost > run.budget
    run.budget = STOPPED
    return {
      error: isOverBudget
        ? 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run'
        : `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${quote(rule.messageExpression)}`,
    }
  }
  run.budget -= cost
  const message = typeof value === 'string' ? value.trim() : ''
  const isShown = message !== '' && !/[\r\n]/.test(message) && Buffer.byteLength(message) <= MAX_MESSAGE
  return isShown ? { message } : {}
}
