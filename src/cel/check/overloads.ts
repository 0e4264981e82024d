// Which overloads of a function fit the types of its arguments, and the type of the result.
import { type FunctionDeclaration, type Overload, typeParamsOf } from '../environment.js'
import { type CelType, DYN, isDyn, sameType } from './cel-type.js'
import type { Substitution } from './unification.js'

export interface OverloadOptions {
  /** The call is `target.function(…)`; the target is the first argument. */
  readonly isMember: boolean
  /** Numbers of two kinds may be compared. */
  readonly crossTypes: boolean
}

export interface MatchedOverloads {
  readonly overloads: readonly Overload[]
  /** Dyn if the overloads have different results. */
  readonly result: CelType
}

/** Binds type parameters in the substitution. Undefined if no overload fits. */
export function matchOverloads(
  substitution: Substitution,
  declaration: FunctionDeclaration,
  argTypes: readonly CelType[],
  { isMember, crossTypes }: OverloadOptions,
): MatchedOverloads | undefined {
  const overloads: Overload[] = []
  let result: CelType | undefined
  for (const overload of declaration.overloads) {
    if ((overload.member ?? false) !== isMember || (!crossTypes && CROSS_TYPE.test(overload.id))) continue
    const { params, result: declared } = instantiate(substitution, overload)
    if (!substitution.assignAll(argTypes, params)) continue
    overloads.push(overload)
    const type = substitution.apply(declared)
    if (result === undefined) result = type
    else if (!isDyn(result) && !sameType(type, result)) result = DYN
  }
  return result && { overloads, result }
}

/** Comparisons of numbers of two kinds: `less_int64_double`. */
const CROSS_TYPE = /^(?:less|less_equals|greater|greater_equals)_(int64|uint64|double)_(int64|uint64|double)$/

/** The overload with type parameters that no other call has. */
function instantiate(
  substitution: Substitution,
  overload: Overload,
): { readonly params: readonly CelType[]; readonly result: CelType } {
  const names = typeParamsOf(overload)
  if (names.size === 0) return overload
  const fresh = new Map([...names].map(name => [name, substitution.freshParam()]))
  return {
    params: overload.params.map(param => rename(param, fresh)),
    result: rename(overload.result, fresh),
  }
}

function rename(type: CelType, names: ReadonlyMap<string, CelType>): CelType {
  if (type.kind === 'param') return names.get(type.name) ?? type
  return type.params.length === 0 ? type : { ...type, params: type.params.map(param => rename(param, names)) }
}
