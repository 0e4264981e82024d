// The rules of a schema as programs. A schema becomes a tree of those of its nodes that have rules, or have some below
// them; nothing is declared or compiled before it is used, and then once.
import {
  type CelType,
  type Checked,
  type Compilation,
  compile,
  createEnvironment,
  type Environment,
  type EstimateOptions,
  estimateCost,
  extendEnvironment,
  type Interval,
  type ObjectTypes,
  type Program,
  RULE_ENVIRONMENT,
  type SizeEstimator,
  types,
} from '../../cel/index.js'
import { MAX_FOUND } from '../../meta/errors/error-limit.js'
import { celReader, type DeclaredType, declareTypes, escapeName, layoutOf } from '../../types/cel-types.js'
import { builtinTypes } from '../../types/type-table.js'
import { BELOW, type Rule, type Schema } from '../structure/structural.js'
import { partType } from '../structure/structural-type.js'
import type { RuleCompiler } from './rule-compiler.js'
import type { RuleMetrics } from './rule-metrics.js'
import type { CompiledRule, RuleNode } from './rule-node.js'

/** The rules of a version's schema; undefined where it has none. */
export function compileRules(root: Schema, compiler: RuleCompiler): RuleNode | undefined {
  return holdsRules(root) ? new Node(root, declarationOf(root, true), compiler) : undefined
}

const holdsRules = ({ below }: Schema): boolean => (below & BELOW.rules) !== 0

/** What a node is declared as, with the object types around it. */
interface Declaration {
  readonly declared: DeclaredType | undefined
  readonly objectTypes: ObjectTypes | undefined
}

function declarationOf(schema: Schema, isResource: boolean): Declaration {
  const declarations = declareTypes(partType(builtinTypes(), schema), { isResource })
  return { declared: declarations?.root, objectTypes: declarations?.objectTypes }
}

class Node implements RuleNode {
  private compiled: readonly CompiledRule[] | undefined
  private children: ReadonlyMap<string, RuleNode> | undefined
  private itemNode: { readonly node: RuleNode | undefined } | undefined
  private reader: RuleNode['read']
  private valueNode: { readonly node: RuleNode | undefined } | undefined

  constructor(
    readonly schema: Schema,
    private readonly declaration: Declaration,
    private readonly compiler: RuleCompiler,
    readonly isOutsideTypes = false,
  ) {}

  get metrics(): RuleMetrics | undefined {
    return this.compiler.metrics
  }

  get declared(): DeclaredType | undefined {
    return this.declaration.declared
  }

  get read(): RuleNode['read'] {
    this.reader ??= this.declared && celReader(this.declared)
    return this.reader
  }

  get rules(): readonly CompiledRule[] {
    this.compiled ??= [...this.compileEach()]
    return this.compiled
  }

  get properties(): ReadonlyMap<string, RuleNode> {
    if (this.children === undefined) {
      const children = new Map<string, RuleNode>()
      for (const [name, property] of this.schema.properties) {
        if (holdsRules(property)) children.set(name, this.child(property, this.fieldType(name)))
      }
      this.children = children
    }
    return this.children
  }

  get items(): RuleNode | undefined {
    this.itemNode ??= { node: this.elementNode(this.schema.items) }
    return this.itemNode.node
  }

  get additionalProperties(): RuleNode | undefined {
    const { additionalProperties } = this.schema
    this.valueNode ??= {
      node: this.elementNode(typeof additionalProperties === 'object' ? additionalProperties : undefined),
    }
    return this.valueNode.node
  }

  private elementNode(schema: Schema | undefined): RuleNode | undefined {
    if (schema === undefined || !holdsRules(schema)) return undefined
    const element = this.isOutsideTypes ? undefined : this.declared?.element
    return this.child(schema, element, element === undefined)
  }

  private fieldType(property: string): DeclaredType | undefined {
    const name = escapeName(property)
    return name === undefined ? this.declared?.unnamed.get(property) : this.declared?.fields.get(name)?.declared
  }

  /** What is hidden here can still have rules below. */
  private child(schema: Schema, declared: DeclaredType | undefined, isOutsideTypes = false): RuleNode {
    const { objectTypes } = this.declaration
    return new Node(
      schema,
      declared === undefined ? declarationOf(schema, schema.extensions.embeddedResource) : { declared, objectTypes },
      this.compiler,
      isOutsideTypes,
    )
  }

  *prepare(): Generator<void> {
    for (const property of this.properties.values()) yield* property.prepare()
    if (this.items) yield* this.items.prepare()
    if (this.additionalProperties) yield* this.additionalProperties.prepare()
    if (this.compiled !== undefined) return
    const compiled: CompiledRule[] = []
    for (const rule of this.compileEach()) {
      compiled.push(rule)
      yield
    }
    this.compiled = compiled
  }

  private *compileEach(): Generator<CompiledRule> {
    const { declared, objectTypes } = this.declaration
    const { rules } = this.schema.extensions
    if (declared === undefined || objectTypes === undefined) return yield* rules.map(notCompiled)
    const sizes = sizesOf(declared)
    let errors = 0
    for (const rule of rules) {
      const compiled =
        errors > MAX_FOUND
          ? notCompiled(rule)
          : this.compiler.compile(rule, declared, () =>
              compileRule(rule, ruleEnvironment(declared, objectTypes, rule.optionalOldSelf === true), sizes),
            )
      if (compiled.error !== undefined) errors++
      yield compiled
    }
  }
}

/** The environment of rules on values of that type. The old value is an optional for rules with optionalOldSelf. */
export function ruleEnvironment(declared: DeclaredType, objectTypes: ObjectTypes, optional: boolean): Environment {
  const { celType: type } = declared
  const layout = layoutOf(declared)
  return extendEnvironment(baseEnvironment(), {
    variables: { self: type, oldSelf: optional ? types.optionalOf(type) : type },
    objectTypes,
    layouts: optional ? { self: layout } : { self: layout, oldSelf: layout },
  })
}

let base: Environment | undefined

function baseEnvironment(): Environment {
  base ??= createEnvironment(RULE_ENVIRONMENT)
  return base
}

// ---- one rule

const notCompiled = (rule: Rule): CompiledRule => ({ rule, usesOldSelf: false, maxCost: 0, maxMessageCost: 0 })

function compileRule(rule: Rule, environment: Environment, sizes: SizeEstimator): CompiledRule {
  if (rule.rule.trim() === '') return notCompiled(rule)
  const compiled = compile(rule.rule, environment)
  if (!compiled.ok) {
    const failed = compiled.stage === 'program' ? 'program instantiation failed' : 'compilation failed'
    const usesOldSelf = refersTo(compiled.checked, 'oldSelf')
    if (hasOtherType(compiled, 'bool')) return { ...notCompiled(rule), error: NOT_A_BOOL }
    return { ...notCompiled(rule), usesOldSelf, error: `${failed}: ${compiled.message}` }
  }
  const { program } = compiled
  if (!isPlain(program.type, 'bool')) return { ...notCompiled(rule), error: NOT_A_BOOL }
  return {
    rule,
    program,
    usesOldSelf: refersTo(program.checked, 'oldSelf'),
    maxCost: maxOf(program, environment, sizes),
    estimate: options => estimateOf(program, environment, sizes, options),
    ...compileMessage(rule, environment, sizes),
  }
}

const NOT_A_BOOL = 'cel expression must evaluate to a bool'
const NOT_A_STRING = 'messageExpression must evaluate to a string'

/** A wrapper (`google.protobuf.BoolValue{}`) is another type, though its values are the same. */
const isPlain = (type: CelType, kind: CelType['kind']): boolean => type.kind === kind && type.nullable !== true

/** The type of an expression is checked before a program is made of it. */
const hasOtherType = (compiled: Compilation, kind: CelType['kind']): boolean =>
  !compiled.ok && compiled.checked !== undefined && !isPlain(compiled.checked.type, kind)

type CompiledMessage = Pick<CompiledRule, 'messageProgram' | 'messageError' | 'maxMessageCost'>

function compileMessage(rule: Rule, environment: Environment, sizes: SizeEstimator): CompiledMessage {
  if (rule.messageExpression === '') return { maxMessageCost: 0 }
  const compiled = compile(rule.messageExpression, environment)
  if (!compiled.ok) {
    const failed = compiled.stage === 'program' ? 'instantiation failed' : 'compilation failed'
    if (hasOtherType(compiled, 'string')) return { messageError: NOT_A_STRING, maxMessageCost: 0 }
    return { messageError: `messageExpression ${failed}: ${compiled.message}`, maxMessageCost: 0 }
  }
  const { program } = compiled
  if (!isPlain(program.type, 'string')) {
    return { messageError: NOT_A_STRING, maxMessageCost: 0 }
  }
  return { messageProgram: program, maxMessageCost: maxOf(program, environment, sizes) }
}

function refersTo(checked: Checked | undefined, name: string): boolean {
  return checked?.references.some(reference => reference?.kind === 'ident' && reference.name === name) ?? false
}

// ---- costs

function estimateOf(
  { checked }: Program,
  environment: Environment,
  sizes: SizeEstimator,
  options: EstimateOptions = {},
): Interval {
  return checked === undefined ? NO_SIZE : estimateCost(checked, environment, sizes, options)
}

const maxOf = (program: Program, environment: Environment, sizes: SizeEstimator): number =>
  estimateOf(program, environment, sizes).max

/** Sizes by the path from a variable, whatever its name: `self` and `oldSelf` are of the same type. */
export function sizesOf(root: DeclaredType): SizeEstimator {
  return {
    sizeOf({ path }): Interval | undefined {
      if (path.length === 0) return undefined
      let declared = root
      for (let i = 1; i < path.length; i++) {
        const step = path[i]!
        // Keys of maps are of no known size.
        if (step === '@keys') return declared.kind === 'map' && i === path.length - 1 ? NO_SIZE : undefined
        const next = step === '@items' || step === '@values' ? declared.element : declared.fields.get(step)?.declared
        if (next === undefined) return undefined
        declared = next
      }
      return { min: 0, max: declared.maxSize }
    },
  }
}

const NO_SIZE: Interval = { min: 0, max: 0 }
