// What the rules of a schema may cost, part by part, and which bounds would make an expensive one affordable. Bounds
// are not guessed: the schema is compiled with them, and the largest that fits is searched for.
import { type CostTree, type Expr, partsBelow, printExpression } from '../../cel/index.js'
import { isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { timesInRequest } from '../../types/cel-types.js'
import { parseSchema, type Schema } from '../structure/structural.js'
import { timesBelow } from './check-rules.js'
import { compileRules } from './compile-rules.js'
import { multiplyCosts, RULE_COST_LIMIT } from './cost-limits.js'
import { RuleCompiler } from './rule-compiler.js'
import type { CompiledRule, RuleNode } from './rule-node.js'

export interface RuleCost {
  /** From the root of the object: `spec.hosts[]`; empty at the root. */
  readonly field: string
  readonly compiled: CompiledRule
  /** The most that one evaluation costs, and how often it may be evaluated for one object. */
  readonly once: number
  readonly times: number
  readonly total: number
  readonly parts: readonly CostPart[]
}

export interface CostPart {
  readonly text: string
  readonly depth: number
  readonly cost: number
  /** How large its value may be, where that is known. */
  readonly size: number | undefined
  /** True where it is evaluated for each element of the part above. */
  readonly repeated: boolean
}

type Step = string | typeof ITEMS | typeof VALUES
const ITEMS = Symbol('items')
const VALUES = Symbol('additionalProperties')
type Path = readonly Step[]

export const explainCosts = (written: Value): readonly RuleCost[] => [...ruleCosts(written)]

/** The same, rule by rule: each is compiled when it is asked for, so that others get a turn between two. */
export function* ruleCosts(written: Value): Generator<RuleCost> {
  for (const { path, node, position, times } of rulesIn(written)) {
    const compiled = node.rules[position]!
    yield {
      field: printPath(path),
      compiled,
      once: compiled.maxCost,
      times,
      total: multiplyCosts(compiled.maxCost, times),
      parts: partsOf(compiled),
    }
  }
}

interface PlacedRule {
  readonly path: Path
  readonly node: RuleNode
  /** Among the rules of the node, which are compiled when the node is first asked for them. */
  readonly position: number
  readonly times: number
}

function* rulesIn(written: Value): Generator<PlacedRule> {
  const root = compileRules(parseSchema(written), new RuleCompiler())
  if (root !== undefined) yield* rulesBelow(root, [], 1)
}

function* rulesBelow(node: RuleNode, path: Path, times: number | undefined): Generator<PlacedRule> {
  if (node.declared !== undefined) {
    const often = times ?? timesInRequest(node.declared)
    for (const position of node.schema.extensions.rules.keys()) yield { path, node, position, times: often }
  }
  const below = timesBelow(node.schema, times)
  for (const [name, property] of node.properties) yield* rulesBelow(property, [...path, name], below)
  if (node.items !== undefined) yield* rulesBelow(node.items, [...path, ITEMS], below)
  if (node.additionalProperties !== undefined) yield* rulesBelow(node.additionalProperties, [...path, VALUES], below)
}

function ruleAt(written: Value, index: number): PlacedRule | undefined {
  let at = 0
  for (const rule of rulesIn(written)) if (at++ === index) return rule
  return undefined
}

const costOf = ({ node, position, times }: PlacedRule): number => multiplyCosts(node.rules[position]!.maxCost, times)

function printPath(path: Path): string {
  const text = path.map(step => (step === ITEMS ? '[]' : step === VALUES ? '[*]' : `.${step}`)).join('')
  return text.startsWith('.') ? text.slice(1) : text
}

// ---- the parts of a rule

function partsOf({ program, estimate }: CompiledRule): readonly CostPart[] {
  if (program === undefined || estimate === undefined) return []
  const costs = new Map<Expr, CostTree>()
  estimate({ visit: part => costs.set(part.expr, part) })
  const parts: CostPart[] = []
  const visit = (expr: Expr, depth: number, repeated: boolean): void => {
    const found = costs.get(expr)
    // Literals cost nothing.
    if (found === undefined || expr.kind === 'literal') return
    const size = found.size?.max
    parts.push({
      text: printExpression(expr),
      depth,
      cost: found.cost.max,
      size: size === 1 ? undefined : size,
      repeated,
    })
    for (const part of partsBelow(expr)) visit(part.expr, depth + 1, part.repeated)
  }
  visit(program.expr, 0, false)
  return parts
}

// ---- bounds

export interface Bound {
  readonly field: string
  readonly keyword: 'maxItems' | 'maxLength' | 'maxProperties'
  /** The largest with which the rule is within the limit. */
  readonly max: number
}

export interface Remedies {
  /** Each of these is enough. */
  readonly alone: readonly Bound[]
  /** All of these at once, where there are several that count: then each may be larger. */
  readonly together: readonly Bound[]
}

/** What brings the rule at an index of `explainCosts` under the limit for one rule. */
export function findRemedies(written: Value, index: number): Remedies {
  const steps = remedySteps(written, index)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** The same, in steps of one compilation: a large schema has many places for bounds, and each is tried out. */
export function* remedySteps(written: Value, index: number): Generator<void, Remedies> {
  const rule = ruleAt(written, index)!
  const cost = costOf(rule)
  function* costWith(bounded: readonly Place[], max: number): Generator<void, number> {
    yield
    const found = ruleAt(
      bounded.reduce((schema, { path, keyword }) => withBound(schema, path, keyword, max), written),
      index,
    )
    return found === undefined ? 0 : costOf(found)
  }
  function* largest(bounded: readonly Place[]): Generator<void, number | undefined> {
    if ((yield* costWith(bounded, 1)) > RULE_COST_LIMIT) return undefined
    let fits = 1
    let over = HIGHEST
    while (over - fits > 1) {
      const middle = Math.floor((fits + over) / 2)
      if ((yield* costWith(bounded, middle)) <= RULE_COST_LIMIT) fits = middle
      else over = middle
    }
    return fits
  }
  const matters: Place[] = []
  for (const place of boundPlaces(parseSchema(written), rule.path)) {
    if ((yield* costWith([place], 1)) < cost) matters.push(place)
  }
  const bounds = (all: readonly Place[], max: number): Bound[] =>
    all.map(({ path, keyword }) => ({ field: printPath(path), keyword, max }))
  const alone: Bound[] = []
  for (const place of matters) {
    const max = yield* largest([place])
    if (max !== undefined) alone.push(...bounds([place], max))
  }
  if (matters.length < 2) return { alone, together: [] }
  const max = yield* largest(matters)
  return { alone, together: max === undefined ? [] : bounds(matters, max) }
}

/** More than fits into a request of any kind. */
const HIGHEST = 4 * 1024 * 1024

interface Place {
  readonly path: Path
  readonly keyword: Bound['keyword']
}

/** Lists, maps and texts around the rule, at it and below it. */
function boundPlaces(root: Schema, rulePath: Path): readonly Place[] {
  const places: Place[] = []
  const visit = (schema: Schema, path: Path): void => {
    const onTheWay = path.every((step, i) => i >= rulePath.length || step === rulePath[i])
    if (!onTheWay) return
    const keyword = keywordOf(schema)
    if (keyword !== undefined) places.push({ path, keyword })
    for (const [name, property] of schema.properties) visit(property, [...path, name])
    if (schema.items !== undefined) visit(schema.items, [...path, ITEMS])
    if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties, [...path, VALUES])
  }
  visit(root, [])
  return places
}

function keywordOf({ type, additionalProperties, checks }: Schema): Bound['keyword'] | undefined {
  if (type === 'array') return 'maxItems'
  if (type === 'object' && typeof additionalProperties === 'object') return 'maxProperties'
  return type === 'string' && checks.format === '' && checks.enum.length === 0 ? 'maxLength' : undefined
}

/** The written schema with a bound at a path, never above an existing one. */
function withBound(schema: Value, path: Path, keyword: Bound['keyword'], max: number): Value {
  if (!isObject(schema)) return schema
  const copy: ValueObject = { ...schema }
  const [step, ...rest] = path
  if (step === undefined) {
    const before = schema[keyword]
    setOwn(copy, keyword, typeof before === 'number' ? Math.min(before, max) : max)
  } else if (typeof step === 'string') {
    const properties: ValueObject = { ...(schema['properties'] as ValueObject) }
    setOwn(properties, step, withBound(properties[step]!, rest, keyword, max))
    setOwn(copy, 'properties', properties)
  } else {
    const key = step === ITEMS ? 'items' : 'additionalProperties'
    setOwn(copy, key, withBound(schema[key]!, rest, keyword, max))
  }
  return copy
}
