// The check of rules when their definition is written: whether they compile, whether their old values can be
// correlated, and their maximal cost, each alone and all together.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInternal,
  fieldInvalid,
  indexPath,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { timesInRequest } from '../../types/cel-types.js'
import { describeRuleInGo } from '../check/go-printed.js'
import { hasRules, type Schema } from '../structure/structural.js'
import { costMessage, multiplyCosts, RULE_COST_LIMIT, TOTAL_COST_LIMIT, TotalCost } from './cost-limits.js'
import type { CompiledRule, RuleNode } from './rule-node.js'

export interface RuleCheckOptions {
  /** Nodes whose rules are not checked, because the nodes have other errors. */
  readonly skip: ReadonlySet<Schema>
  /** The schema was in use before, when other limits may have applied to single rules. */
  readonly isUnchanged: boolean
}

export function checkRules(root: RuleNode, at: string, options: RuleCheckOptions): FieldError[] {
  const check: Check = { ...options, errors: [], total: new TotalCost() }
  visit(root, at, { times: 1, uncorrelatable: undefined, scope: 'none' }, check)
  return [...check.errors, ...checkTotal(check.total, at)]
}

interface Check extends RuleCheckOptions {
  readonly errors: FieldError[]
  readonly total: TotalCost
}

/** What follows for a node from its position. */
interface SchemaPosition {
  /** How often it can occur in one object; undefined if that has no limit. */
  readonly times: number | undefined
  /** The outermost list around it whose items have no identity from one object to the next. */
  readonly uncorrelatable: string | undefined
  /** Whether rules around it can refer to it, or a node between is hidden from them. */
  readonly scope: 'none' | 'seen' | 'hidden'
}

/** Inner rules come first. */
function visit(node: RuleNode, at: string, position: SchemaPosition, check: Check): void {
  const { schema, items, additionalProperties } = node
  const scope = scopeOf(node, position.scope)
  const below: SchemaPosition = { ...position, times: timesBelow(schema, position.times), scope }
  if (additionalProperties !== undefined) {
    visit(additionalProperties, childPath(at, 'additionalProperties'), below, check)
  }
  for (const [name, property] of node.properties) {
    visit(property, keyPath(childPath(at, 'properties'), name), below, check)
  }
  if (items !== undefined) {
    const uncorrelatable = position.uncorrelatable ?? (schema.extensions.listType === 'map' ? undefined : at)
    visit(items, childPath(at, 'items'), { ...below, uncorrelatable }, check)
  }
  if (!hasRules(schema) || check.skip.has(schema)) return
  const rulesField = childPath(at, 'x-kubernetes-validations')
  if (scope === 'hidden' || node.declared === undefined) {
    const why = 'failed to construct type information for x-kubernetes-validations rules'
    const cause = 'unable to convert structural schema to CEL declarations'
    check.errors.push(fieldInternal(rulesField, `internal error: ${why}: ${cause}`))
    return
  }
  const times = position.times ?? timesInRequest(node.declared)
  for (const [i, rule] of node.rules.entries()) checkRule(rule, indexPath(rulesField, i), times, position, check)
}

function scopeOf({ schema, declared }: RuleNode, outer: SchemaPosition['scope']): SchemaPosition['scope'] {
  if (outer === 'hidden' || (outer === 'none' && !hasRules(schema))) return outer
  return declared === undefined ? 'hidden' : 'seen'
}

/** How often the children of a node can occur in one object. */
export function timesBelow(
  { type, additionalProperties, checks }: Schema,
  times: number | undefined,
): number | undefined {
  const isMap = type === 'object' && additionalProperties !== undefined
  if (times === undefined || (type !== 'array' && !isMap)) return times
  const max = isMap ? checks.maxProperties : checks.maxItems
  return max === undefined ? undefined : multiplyCosts(times, Math.max(max, 0))
}

function checkRule(compiled: CompiledRule, at: string, times: number, position: SchemaPosition, check: Check): void {
  const { rule, error, messageError, messageProgram, usesOldSelf, maxCost, maxMessageCost } = compiled
  const field = childPath(at, 'rule')
  const messageField = childPath(at, 'messageExpression')
  const { errors } = check
  checkCost('estimated rule cost', multiplyCosts(maxCost, times), field, check)
  if (error !== undefined) errors.push(fieldInvalid(field, asStruct(describeRuleInGo(rule)), error))
  if (messageError !== undefined) {
    errors.push(fieldInvalid(messageField, asStruct(describeRuleInGo(rule)), messageError))
  } else if (messageProgram !== undefined) {
    // A message is evaluated once, however often its rule fails.
    checkCost('estimated messageExpression cost', maxMessageCost, messageField, check)
  }
  if (usesOldSelf) {
    if (position.uncorrelatable !== undefined) {
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${position.uncorrelatable}`
      errors.push(fieldInvalid(field, rule.rule, why))
    }
  } else if (rule.optionalOldSelf !== undefined) {
    const why = 'may not be set if oldSelf is not used in rule'
    errors.push(fieldInvalid(childPath(at, 'optionalOldSelf'), rule.optionalOldSelf, why))
  }
}

function checkCost(what: string, cost: number, field: string, { errors, total, isUnchanged }: Check): void {
  if (cost > RULE_COST_LIMIT && !isUnchanged) {
    errors.push(fieldForbidden(field, costMessage(what, cost, RULE_COST_LIMIT)))
  }
  total.add(field, cost)
}

function checkTotal(total: TotalCost, at: string): FieldError[] {
  if (total.cost <= TOTAL_COST_LIMIT) return []
  const contributed = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
  const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
  return [
    ...total.maxExpensive.map(({ field }) => fieldForbidden(field, contributed)),
    fieldForbidden(at, costMessage(what, total.cost, TOTAL_COST_LIMIT)),
  ]
}
