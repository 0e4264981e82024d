// The rules of a schema, compiled: a tree of those of its nodes that have rules, or have some below them.
import type { EstimateOptions, Interval, Program, Value as RuleValue } from '../../cel/index.js'
import type { Value } from '../../meta/values/value.js'
import type { DeclaredType } from '../../types/cel-types.js'
import type { Rule, Schema } from '../structure/structural.js'
import type { RuleMetrics } from './rule-metrics.js'

export interface CompiledRule {
  readonly rule: Rule
  /** Left out where the rule is empty or has errors. */
  readonly program?: Program
  /** The error of the rule. */
  readonly error?: string
  /** A transition rule: it refers to the old value. */
  readonly usesOldSelf: boolean
  /** The most that one evaluation may cost. */
  readonly maxCost: number
  /** Estimates that again, with the cost of every part. Left out where the rule has errors. */
  readonly estimate?: (options: EstimateOptions) => Interval
  /** Left out where there is no messageExpression, or where it or the rule has errors. */
  readonly messageProgram?: Program
  readonly messageError?: string
  readonly maxMessageCost: number
}

/** A node of a schema with rules at it or below. */
export interface RuleNode {
  readonly schema: Schema
  /** Undefined where the type of its values is hidden from rules; then no rule of it or below is ever evaluated. */
  readonly declared: DeclaredType | undefined
  /**
   * The type of the value around it has no elements (`items` under `type: object`), so that its values have no type
   * either: its rules cannot be evaluated. Only a stored object can have such values, from an earlier schema.
   */
  readonly isOutsideTypes: boolean
  /** Converts the JSON here to values for rules; undefined likewise. */
  readonly read: ((json: Value) => RuleValue) | undefined
  /** The rules of this node, in their order. After so many errors that a validation ends, the others are not compiled. */
  readonly rules: readonly CompiledRule[]
  /** Compiles the rules here and below, in pieces: all of them together may take long. */
  prepare(): Iterable<void>
  /** Properties with rules at or below them. */
  readonly properties: ReadonlyMap<string, RuleNode>
  readonly items: RuleNode | undefined
  readonly additionalProperties: RuleNode | undefined
  readonly metrics: RuleMetrics | undefined
}

/** Every node of a tree by its schema. */
export function nodesOf(root: RuleNode): ReadonlyMap<Schema, RuleNode> {
  const nodes = new Map<Schema, RuleNode>()
  const visit = (node: RuleNode): void => {
    nodes.set(node.schema, node)
    for (const property of node.properties.values()) visit(property)
    if (node.items !== undefined) visit(node.items)
    if (node.additionalProperties !== undefined) visit(node.additionalProperties)
  }
  visit(root)
  return nodes
}
