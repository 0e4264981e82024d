// The check of rules when their definition is written: whether they compile, whether what they speak of can be known,
// and what they may cost at most, each for itself and all of them together.
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
import { type CompiledRule, type RuleNode } from './compile-rules.js'
import { costMessage, multiplyCosts, RULE_COST_LIMIT, TOTAL_COST_LIMIT, TotalCost } from './cost-limits.js'

export interface RuleCheckOptions {
  /** Nodes whose rules are left alone, as something else is wrong with them. */
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

/** What holds for a node by where it stands. */
interface Place {
  /** How often it can stand in one object; undefined where nothing limits it. */
  readonly times: number | undefined
  /** The outermost list around it whose items cannot be told apart from one object to the next. */
  readonly uncorrelatable: string | undefined
  /** Whether rules around it see it, or something on the way there is hidden from them. */
  readonly scope: 'none' | 'seen' | 'hidden'
}

/** Inner rules come first. */
function visit(node: RuleNode, at: string, place: Place, check: Check): void {
  const { schema, items, additionalProperties } = node
  const scope = scopeOf(node, place.scope)
  const below: Place = { ...place, times: timesBelow(schema, place.times), scope }
  if (additionalProperties !== undefined) {
    visit(additionalProperties, childPath(at, 'additionalProperties'), below, check)
  }
  for (const [name, property] of node.properties) {
    visit(property, keyPath(childPath(at, 'properties'), name), below, check)
  }
  if (items !== undefined) {
    const uncorrelatable = place.uncorrelatable ?? (schema.extensions.listType === 'map' ? undefined : at)
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
  const times = place.times ?? timesInRequest(node.declared)
  for (const [i, rule] of node.rules.entries()) checkRule(rule, indexPath(rulesField, i), times, place, check)
}

function scopeOf({ schema, declared }: RuleNode, outer: Place['scope']): Place['scope'] {
  if (outer === 'hidden' || (outer === 'none' && !hasRules(schema))) return outer
  return declared === undefined ? 'hidden' : 'seen'
}

/** How often the children of a node can stand in one object. */
export function timesBelow(
  { type, additionalProperties, checks }: Schema,
  times: number | undefined,
): number | undefined {
  const isMap = type === 'object' && additionalProperties !== undefined
  if (times === undefined || (type !== 'array' && !isMap)) return times
  const max = isMap ? checks.maxProperties : checks.maxItems
  return max === undefined ? undefined : multiplyCosts(times, Math.max(max, 0))
}

function checkRule(compiled: CompiledRule, at: string, times: number, place: Place, check: Check): void {
  const { rule, error, messageError, messageProgram, usesOldSelf, maxCost, maxMessageCost } = compiled
  const field = childPath(at, 'rule')
  const messageField = childPath(at, 'messageExpression')
  const { errors } = check
  checkCost('estimated rule cost', multiplyCosts(maxCost, times), field, check)
  if (error !== undefined) errors.push(fieldInvalid(field, asStruct(describeRuleInGo(rule)), error))
  if (messageError !== undefined) {
    errors.push(fieldInvalid(messageField, asStruct(describeRuleInGo(rule)), messageError))
  } else if (messageProgram !== undefined) {
    // A message is made once, however often its rule is broken.
    checkCost('estimated messageExpression cost', maxMessageCost, messageField, check)
  }
  if (usesOldSelf) {
    if (place.uncorrelatable !== undefined) {
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`
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
