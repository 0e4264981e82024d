// What the rules of a schema may cost, part by part, and which bounds would make an expensive one affordable. Bounds
// are not guessed: the schema is compiled with them, and the largest that fits is searched for.
import { type CostTree, type Expr, partsBelow, printExpression } from '../../cel/index.js'
import { isObject, setOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { timesInRequest } from '../../types/cel-types.js'
import { parseSchema, type Schema } from '../structure/structural.js'
import { timesBelow } from './check-rules.js'
import { type CompiledRule, compileRules, type RuleNode } from './compile-rules.js'
import { multiplyCosts, RULE_COST_LIMIT } from './cost-limits.js'
import { RuleCompiler } from './rule-compiler.js'

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

export function explainCosts(written: Value): readonly RuleCost[] {
  return rulesOf(written).map(({ path, compiled, times }) => ({
    field: printPath(path),
    compiled,
    once: compiled.maxCost,
    times,
    total: multiplyCosts(compiled.maxCost, times),
    parts: partsOf(compiled),
  }))
}

interface PlacedRule {
  readonly path: Path
  readonly compiled: CompiledRule
  readonly times: number
}

function rulesOf(written: Value): readonly PlacedRule[] {
  const found: PlacedRule[] = []
  const visit = (node: RuleNode, path: Path, times: number | undefined): void => {
    if (node.declared !== undefined) {
      const often = times ?? timesInRequest(node.declared)
      for (const compiled of node.rules) found.push({ path, compiled, times: often })
    }
    const below = timesBelow(node.schema, times)
    for (const [name, property] of node.properties) visit(property, [...path, name], below)
    if (node.items !== undefined) visit(node.items, [...path, ITEMS], below)
    if (node.additionalProperties !== undefined) visit(node.additionalProperties, [...path, VALUES], below)
  }
  const root = compileRules(parseSchema(written), new RuleCompiler())
  if (root !== undefined) visit(root, [], 1)
  return found
}

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
  const rule = rulesOf(written)[index]!
  const places = boundPlaces(parseSchema(written), rule.path)
  const costWith = (bounded: readonly Place[], max: number): number => {
    const found = rulesOf(bounded.reduce((schema, { path, keyword }) => withBound(schema, path, keyword, max), written))
    return found[index] === undefined ? 0 : multiplyCosts(found[index].compiled.maxCost, found[index].times)
  }
  const largest = (bounded: readonly Place[]): number | undefined => {
    if (costWith(bounded, 1) > RULE_COST_LIMIT) return undefined
    let fits = 1
    let over = HIGHEST
    while (over - fits > 1) {
      const middle = Math.floor((fits + over) / 2)
      if (costWith(bounded, middle) <= RULE_COST_LIMIT) fits = middle
      else over = middle
    }
    return fits
  }
  const matters = places.filter(place => costWith([place], 1) < multiplyCosts(rule.compiled.maxCost, rule.times))
  const bounds = (all: readonly Place[], max: number): Bound[] =>
    all.map(({ path, keyword }) => ({ field: printPath(path), keyword, max }))
  const alone = matters.flatMap(place => {
    const max = largest([place])
    return max === undefined ? [] : bounds([place], max)
  })
  if (matters.length < 2) return { alone, together: [] }
  const max = largest(matters)
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
