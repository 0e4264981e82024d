// What names refer to: local variables of comprehensions, then variables, constants and types of the environment.
import { candidateNames, type Environment } from '../environment.js'
import type { Expr } from '../syntax/syntax-tree.js'
import { type CelType, objectType, typeOf } from './cel-type.js'

/** What a name refers to: a variable, a type or a constant. */
export interface IdentReference {
  readonly kind: 'ident'
  readonly name: string
  /** The type that the name stands for, where it is the name of one. */
  readonly type?: CelType
}

/** The local variables, innermost first. */
export interface Scope {
  readonly name: string
  readonly type: CelType
  readonly outer: Scope | undefined
}

export interface FoundName {
  readonly type: CelType
  readonly reference: IdentReference
}

export function lookUpName(environment: Environment, scope: Scope | undefined, name: string): FoundName | undefined {
  const local = findLocal(scope, name)
  if (local) return { type: local.type, reference: { kind: 'ident', name } }
  const { variables = {}, types, constants, objectTypes, unusableTypes = {}, container } = environment
  for (const candidate of candidateNames(container, name)) {
    if (Object.hasOwn(variables, candidate)) {
      return { type: variables[candidate]!, reference: { kind: 'ident', name: candidate } }
    }
    const constant = constants.get(candidate)
    if (constant) return { type: constant.type, reference: { kind: 'ident', name: candidate } }
    if (Object.hasOwn(unusableTypes, candidate)) {
      return { type: typeOf(unusableTypes[candidate]!), reference: { kind: 'ident', name: candidate } }
    }
    const type = types.get(candidate) ?? (objectTypes.has(candidate) ? objectType(candidate) : undefined)
    if (type) return { type: typeOf(type), reference: { kind: 'ident', name: candidate, type } }
  }
  return undefined
}

function findLocal(scope: Scope | undefined, name: string): Scope | undefined {
  // A leading dot skips local variables, even those that were declared with one.
  if (name.startsWith('.')) return undefined
  for (let local = scope; local; local = local.outer) if (local.name === name) return local
  return undefined
}

/** `a.b.c` as one name, unless it begins with a local variable. */
export function qualifiedName(scope: Scope | undefined, expr: Expr): string | undefined {
  if (expr.kind === 'ident') return findLocal(scope, expr.name) ? undefined : expr.name
  if (expr.kind !== 'select' || expr.testOnly) return undefined
  const prefix = qualifiedName(scope, expr.operand)
  return prefix === undefined ? undefined : `${prefix}.${expr.field}`
}
