// Gives every node its type and every name and call what it refers to, or reports all errors.

import { candidateNames, type Environment, type FunctionDeclaration, type Overload } from '../environment.js'
import type { Issue } from '../syntax/source.js'
import { type CallExpr, type ComprehensionExpr, type Expr, OPERATORS, type SelectExpr } from '../syntax/syntax-tree.js'
import {
  BOOL,
  type CelType,
  DYN,
  ERROR,
  INT,
  isDyn,
  isDynOrError,
  isOptional,
  listOf,
  mapOf,
  optionalOf,
  printType,
  STRING,
  sizeOfType,
} from './cel-type.js'
import { literalType } from './literal-types.js'
import { type IdentReference, lookUpName, qualifiedName, type Scope } from './names.js'
import { matchOverloads } from './overloads.js'
import { maxGeneral, Substitution } from './unification.js'

export type { IdentReference }

/** What a call refers to. */
export interface FunctionReference {
  readonly kind: 'function'
  readonly name: string
  readonly overloads: readonly Overload[]
  /** The target of the call turned out to be part of the name. */
  readonly namespaced: boolean
}

export type Reference = IdentReference | FunctionReference

export interface Checked {
  readonly expr: Expr
  /** By the id of the node. */
  readonly types: readonly (CelType | undefined)[]
  readonly references: readonly (Reference | undefined)[]
  readonly type: CelType
}

export type CheckResult =
  | { readonly ok: true; readonly checked: Checked }
  | { readonly ok: false; readonly issues: readonly Issue[] }

export function check(expr: Expr, environment: Environment): CheckResult {
  const checker = new Checker(environment)
  checker.check(expr)
  if (checker.issues.length > 0) return { ok: false, issues: checker.issues }
  const types = checker.types.map(type => (type === undefined ? undefined : checker.substitution.apply(type, true)))
  return { ok: true, checked: { expr, types, references: checker.references, type: types[expr.id] ?? DYN } }
}

/** No more errors than this are printed. */
const MAX_REPEATED_ERRORS = 100

/** A map of maps of maps has a type that doubles with each level. */
const MAX_TYPE_SIZE = 10_000

class Checker {
  readonly issues: Issue[] = []
  readonly types: (CelType | undefined)[] = []
  readonly references: (Reference | undefined)[] = []
  readonly substitution = new Substitution()
  private scope: Scope | undefined
  /** The errors of a node that stands twice in the tree are reported twice. */
  private readonly errorsOfShared = new Map<Expr, readonly Issue[]>()

  constructor(private readonly environment: Environment) {}

  check(expr: Expr): void {
    if (!expr.shared) return this.checkNode(expr)
    const errors = this.errorsOfShared.get(expr)
    if (errors !== undefined) {
      this.issues.push(...errors)
      return
    }
    const before = this.issues.length
    this.checkNode(expr)
    this.errorsOfShared.set(expr, this.issues.slice(before, before + MAX_REPEATED_ERRORS))
  }

  private checkNode(expr: Expr): void {
    this.checkKind(expr)
    if (sizeOfType(this.typeOf(expr)) <= MAX_TYPE_SIZE) return
    this.report(expr, `the type of the expression has more than ${MAX_TYPE_SIZE} parts`)
    this.types[expr.id] = ERROR
  }

  private checkKind(expr: Expr): void {
    switch (expr.kind) {
      case 'literal':
        this.types[expr.id] = literalType(expr.value)
        break
      case 'ident':
        this.checkIdent(expr, expr.name)
        break
      case 'select':
        this.checkSelect(expr)
        break
      case 'call':
        this.checkCall(expr)
        break
      case 'list':
        this.checkList(expr)
        break
      case 'map':
        this.checkMap(expr)
        break
      case 'struct':
        this.checkStruct(expr)
        break
      case 'comprehension':
        this.checkComprehension(expr)
        break
      case 'unspecified':
        this.types[expr.id] = ERROR
        break
    }
  }

  private report({ offset }: { readonly offset: number }, message: string): void {
    this.issues.push({ offset, message })
  }

  private undeclared(expr: Expr, name: string): void {
    this.types[expr.id] = ERROR
    this.report(expr, `undeclared reference to '${name}' (in container '${this.environment.container}')`)
  }

  private typeOf(expr: Expr): CelType {
    return this.types[expr.id] ?? ERROR
  }

  private assign(expected: CelType, actual: CelType): boolean {
    return this.substitution.assign(expected, actual)
  }

  private mismatch(at: Expr, expected: CelType, actual: CelType): void {
    this.report(at, `expected type '${this.print(expected)}' but found '${this.print(actual)}'`)
  }

  private print(type: CelType): string {
    return printType(this.substitution.apply(type))
  }

  // ---- names

  private checkIdent(expr: Expr, name: string): void {
    const found = lookUpName(this.environment, this.scope, name)
    if (!found) this.undeclared(expr, name)
    else {
      this.types[expr.id] = found.type
      this.references[expr.id] = found.reference
    }
  }

  private checkSelect(expr: SelectExpr): void {
    const name = qualifiedName(this.scope, expr)
    const found = name === undefined ? undefined : lookUpName(this.environment, this.scope, name)
    if (found) {
      this.types[expr.id] = found.type
      this.references[expr.id] = found.reference
      return
    }
    const type = this.selectField(expr, expr.operand, expr.field, false)
    this.types[expr.id] = expr.testOnly ? BOOL : this.substitution.apply(type)
  }

  private selectField(expr: Expr, operand: Expr, field: string, optional: boolean): CelType {
    this.check(operand)
    const operandType = this.substitution.apply(this.typeOf(operand))
    const wasOptional = isOptional(operandType)
    const target = wasOptional ? operandType.params[0]! : operandType
    const result = this.fieldOf(expr, target, field)
    return wasOptional || optional ? optionalOf(result) : result
  }

  private fieldOf(at: Expr, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return target.params[1]!
      case 'object':
        return this.fieldType(at, target.name, field) ?? ERROR
      case 'param':
        this.assign(DYN, target)
        return DYN
      default:
        if (!isDynOrError(target)) this.report(at, `type '${printType(target)}' does not support field selection`)
        return DYN
    }
  }

  private fieldType(at: { readonly offset: number }, typeName: string, field: string): CelType | undefined {
    const { objectTypes } = this.environment
    if (!objectTypes.has(typeName)) {
      this.report(at, `unexpected failed resolution of '${typeName}'`)
      return undefined
    }
    const type = objectTypes.field(typeName, field)
    if (type === undefined) this.report(at, `undefined field '${field}'`)
    return type
  }

  // ---- calls

  private checkCall(expr: CallExpr): void {
    const { name, args, target } = expr
    if (name === OPERATORS.optionalSelect) return this.checkOptionalSelect(expr)
    for (const arg of args) this.check(arg)
    if (target === undefined) {
      const declaration = this.lookUpFunction(name)
      if (declaration === undefined) return this.undeclared(expr, name)
      return this.resolve(expr, declaration, undefined)
    }
    const prefix = qualifiedName(this.scope, target)
    const namespaced = prefix === undefined ? undefined : this.lookUpFunction(`${prefix}.${name}`)
    if (namespaced) return this.resolve(expr, namespaced, undefined)
    this.check(target)
    const declaration = this.lookUpFunction(name)
    if (declaration === undefined) return this.undeclared(expr, name)
    this.resolve(expr, declaration, target)
  }

  private lookUpFunction(name: string): FunctionDeclaration | undefined {
    const { functions, container } = this.environment
    for (const candidate of candidateNames(container, name)) {
      const found = functions.get(candidate)
      if (found) return found
    }
    return undefined
  }

  private checkOptionalSelect(expr: CallExpr): void {
    const [operand, field] = expr.args
    const name = field?.kind === 'literal' && typeof field.value === 'string' ? field.value : ''
    const type = this.selectField(expr, operand!, name, true)
    this.types[field!.id] = STRING
    this.types[expr.id] = this.substitution.apply(type)
    const overloads = this.environment.functions.get(OPERATORS.optionalSelect)?.overloads ?? []
    this.references[expr.id] = { kind: 'function', name: expr.name, overloads, namespaced: false }
  }

  private resolve(expr: CallExpr, declaration: FunctionDeclaration, target: Expr | undefined): void {
    const args = target ? [target, ...expr.args] : expr.args
    const argTypes = args.map(arg => this.typeOf(arg))
    const { name } = declaration
    if (name === OPERATORS.and || name === OPERATORS.or) return this.resolveLogic(expr, declaration, argTypes)
    const crossTypes = this.environment.crossTypeNumericComparisons === true
    const found = matchOverloads(this.substitution, declaration, argTypes, {
      isMember: target !== undefined,
      crossTypes,
    })
    if (found === undefined) {
      this.types[expr.id] = ERROR
      const shown = argTypes.map(type => printType(this.substitution.apply(type, true)))
      const signature = target ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`
      this.report(expr, `found no matching overload for '${name}' applied to '${signature}'`)
      return
    }
    this.types[expr.id] = found.result
    this.references[expr.id] = {
      kind: 'function',
      name,
      overloads: found.overloads,
      namespaced: target === undefined && expr.target !== undefined,
    }
  }

  /** Operands of && and || are checked one by one, so that each gets an error of its own. */
  private resolveLogic(expr: CallExpr, declaration: FunctionDeclaration, argTypes: readonly CelType[]): void {
    let valid = true
    for (const [i, type] of argTypes.entries()) {
      if (!this.assign(type, BOOL)) {
        this.mismatch(expr.args[i]!, BOOL, type)
        valid = false
      }
    }
    this.types[expr.id] = valid ? BOOL : ERROR
    const { name, overloads } = declaration
    if (valid) this.references[expr.id] = { kind: 'function', name, overloads, namespaced: false }
  }

  // ---- literals with parts

  private checkList(expr: Extract<Expr, { kind: 'list' }>): void {
    let elementType: CelType | undefined
    for (const [i, element] of expr.elements.entries()) {
      this.check(element)
      let type = this.typeOf(element)
      if (expr.optional.includes(i)) type = this.unwrapOptional(element, type)
      elementType = this.join(elementType, type)
    }
    this.types[expr.id] = listOf(elementType ?? this.substitution.freshParam())
  }

  private checkMap(expr: Extract<Expr, { kind: 'map' }>): void {
    let keyType: CelType | undefined
    let valueType: CelType | undefined
    for (const { key, value, optional } of expr.entries) {
      this.check(key)
      keyType = this.join(keyType, this.typeOf(key))
      this.check(value)
      let type = this.typeOf(value)
      if (optional) type = this.unwrapOptional(value, type)
      valueType = this.join(valueType, type)
    }
    this.types[expr.id] = mapOf(keyType ?? this.substitution.freshParam(), valueType ?? this.substitution.freshParam())
  }

  private unwrapOptional(at: Expr, type: CelType): CelType {
    const applied = this.substitution.apply(type)
    if (isOptional(applied)) return applied.params[0]!
    if (!isDyn(applied)) this.mismatch(at, optionalOf(applied), applied)
    return applied
  }

  /** The type of the elements so far and one more. */
  private join(before: CelType | undefined, type: CelType): CelType {
    if (before === undefined) return type
    if (this.assign(before, type)) return maxGeneral(before, type)
    return DYN
  }

  private checkStruct(expr: Extract<Expr, { kind: 'struct' }>): void {
    const found = lookUpName(this.environment, this.scope, expr.typeName)
    if (!found) return this.undeclared(expr, expr.typeName)
    this.references[expr.id] = found.reference
    let type = ERROR
    if (found.type.kind !== 'type') this.report(expr, `'${printType(found.type)}' is not a type`)
    else {
      type = found.type.params[0] ?? ERROR
      if (type.kind !== 'object' && !this.environment.objectTypes.has(found.reference.name)) {
        this.report(expr, `'${printType(type)}' is not a message type`)
        type = ERROR
      }
    }
    this.types[expr.id] = type
    for (const field of expr.fields) {
      this.check(field.value)
      const declared =
        type.kind === 'error' ? ERROR : (this.fieldType(field, found.reference.name, field.name) ?? ERROR)
      let valueType = this.typeOf(field.value)
      if (field.optional) valueType = this.unwrapOptional(field.value, valueType)
      if (!this.assign(declared, valueType)) {
        this.report(
          field,
          `expected type of field '${field.name}' is '${this.print(declared)}' but provided type is '${this.print(valueType)}'`,
        )
      }
    }
  }

  // ---- comprehensions

  private checkComprehension(expr: ComprehensionExpr): void {
    this.check(expr.range)
    this.check(expr.init)
    const outer = this.scope
    const accuType = this.typeOf(expr.init)
    const withAccu: Scope = { name: expr.accuVar, type: accuType, outer }
    const [first, second] = this.iterationTypes(expr)
    this.scope = { name: expr.iterVar, type: first, outer: withAccu }
    if (expr.iterVar2 !== undefined) this.scope = { name: expr.iterVar2, type: second, outer: this.scope }
    this.check(expr.condition)
    this.expect(expr.condition, BOOL)
    this.check(expr.step)
    this.expect(expr.step, accuType)
    this.scope = withAccu
    this.check(expr.result)
    this.scope = outer
    this.types[expr.id] = this.substitution.apply(this.typeOf(expr.result))
  }

  private iterationTypes({ range, iterVar2 }: ComprehensionExpr): readonly [CelType, CelType] {
    const type = this.substitution.apply(this.typeOf(range))
    switch (type.kind) {
      case 'list':
        return iterVar2 === undefined ? [type.params[0]!, ERROR] : [INT, type.params[0]!]
      case 'map':
        return [type.params[0]!, type.params[1]!]
      case 'dyn':
      case 'any':
      case 'error':
      case 'param':
        this.assign(DYN, type)
        return [DYN, DYN]
      default:
        this.report(
          range,
          `expression of type '${printType(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [ERROR, ERROR]
    }
  }

  private expect(expr: Expr, type: CelType): void {
    if (!this.assign(type, this.typeOf(expr))) this.mismatch(expr, type, this.typeOf(expr))
  }
}
