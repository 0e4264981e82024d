// Expressions of CEL over the claims of a token, and over the user that comes of them.

import { once } from '../../base/memo.js'
import {
  type CelType,
  type Value as CelValue,
  compile,
  createEnvironment,
  Double,
  type Environment,
  type Expr,
  fromPlain,
  ListValue,
  MapValue,
  type Program,
  RULE_ENVIRONMENT,
  types,
  walk,
} from '../../cel/index.js'
import { getOwn, isNumber, isObject, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import type { UserInfo } from '../../request/user-info.js'
import { unescapeName } from '../../types/cel-types.js'

const { ANY, BOOL, STRING, listOf, mapOf, objectType } = types
const STRINGS = listOf(STRING)

const USER_FIELDS: Readonly<Record<string, CelType>> = {
  username: STRING,
  uid: STRING,
  groups: STRINGS,
  extra: mapOf(STRING, STRINGS),
}
const USER_TYPE = 'kubernetes.UserInfo'

const claimsEnvironment = once(
  (): Environment => createEnvironment({ ...RULE_ENVIRONMENT, variables: { claims: mapOf(STRING, ANY) } }),
)

const userEnvironment = once(
  (): Environment =>
    createEnvironment({
      ...RULE_ENVIRONMENT,
      objectTypes: {
        has: name => name === USER_TYPE,
        field: (type, field) =>
          type === USER_TYPE && Object.hasOwn(USER_FIELDS, field) ? USER_FIELDS[field] : undefined,
      },
      variables: { user: objectType(USER_TYPE) },
    }),
)

export interface CompiledExpression {
  readonly expression: string
  readonly program: Program
  readonly error?: undefined
}

/** A compiled expression, or what is wrong with it. */
export type CompiledClaim = CompiledExpression | { readonly error: string }

/** What a mapping evaluates to is known only in evaluation, since claims have no types. */
export const compileMapping = (expression: string): CompiledClaim => compileIn(claimsEnvironment(), expression)
export const compileClaimRule = (expression: string): CompiledClaim => compileRule(claimsEnvironment(), expression)
export const compileUserRule = (expression: string): CompiledClaim => compileRule(userEnvironment(), expression)

function compileIn(environment: Environment, expression: string): CompiledClaim {
  const compiled = compile(expression, environment)
  return compiled.ok ? { expression, program: compiled.program } : { error: `compilation failed: ${compiled.message}` }
}

function compileRule(environment: Environment, expression: string): CompiledClaim {
  const compiled = compileIn(environment, expression)
  if (compiled.error !== undefined || compiled.program.type.kind === BOOL.kind) return compiled
  return { error: 'must evaluate to bool' }
}

/** Whether an expression reads a claim by its name: `claims.name` or `claims.?name`. */
export function readsClaim({ program: { expr } }: CompiledExpression, name: string): boolean {
  for (const node of walk(expr)) {
    if (node.kind === 'select' && isClaims(node.operand) && node.field === name) return true
    if (node.kind !== 'call' || node.target !== undefined || node.name !== '_?._') continue
    if (isClaims(node.args[0]) && isText(node.args[1], name)) return true
  }
  return false
}

const isClaims = (node: Expr | undefined): boolean => node?.kind === 'ident' && node.name === 'claims'
const isText = (node: Expr | undefined, text: string): boolean => node?.kind === 'literal' && node.value === text

// ---- evaluation

/** `value`, or the error of the expression. */
export function evaluateClaims(
  compiled: CompiledExpression,
  claims: ValueObject,
): { readonly value: CelValue; readonly error?: undefined } | { readonly error: string } {
  return evaluateWith(compiled, { claims: claimValue(claims) })
}

export function evaluateUser(
  compiled: CompiledExpression,
  { name, uid, groups, extra }: UserInfo,
): { readonly value: CelValue; readonly error?: undefined } | { readonly error: string } {
  const user = { username: name, uid, groups: [...groups], extra: mapOfLists(extra) }
  return evaluateWith(compiled, { user: claimValue(user) })
}

const mapOfLists = (extra: UserInfo['extra']): ValueObject =>
  Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]))

function evaluateWith({ expression, program }: CompiledExpression, variables: Readonly<Record<string, CelValue>>) {
  const { value, error } = program.evaluate(variables)
  return error
    ? { error: `expression '${expression}' resulted in error: ${error.message}` }
    : { value: value as CelValue }
}

/** All numbers of claims are doubles. */
function claimValue(value: Value): CelValue {
  if (isNumber(value)) return new Double(value instanceof WholeFloat ? value.value : Number(value))
  if (Array.isArray(value)) return new ClaimList(value)
  return isObject(value) ? new ClaimMap(value) : fromPlain(value)
}

class ClaimList extends ListValue {
  constructor(private readonly items: readonly Value[]) {
    super()
  }
  get size(): number {
    return this.items.length
  }
  get(index: number): CelValue {
    return claimValue(this.items[index]!)
  }
}

/** A claim whose name is no identifier is read by its escaped name: `claims.foo__dot__bar`. */
class ClaimMap extends MapValue {
  constructor(private readonly entries: ValueObject) {
    super()
  }
  get size(): number {
    return Object.keys(this.entries).length
  }
  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined
    const found = getOwn(this.entries, unescapeName(key) ?? key)
    return found === undefined ? undefined : claimValue(found)
  }
  keys(): Iterable<CelValue> {
    return Object.keys(this.entries)
  }
}
