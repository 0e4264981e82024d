// What an expression may refer to: variables, functions, types and macros, gathered from libraries and the host.

import type { CelError } from './cel-error.js'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  opaqueType,
  paramsIn,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
} from './check/cel-type.js'
import type { CallCostEstimate, CallNode, CostNode, Interval } from './cost/cost-intervals.js'
import type { WorkBudget } from './cost/work-budget.js'
import type { Layout } from './eval/layout.js'
import type { Macro } from './syntax/macros.js'
import type { Value } from './values/values.js'

export type Implementation = (...args: Value[]) => Value

/** An implementation that does more work than its cost says. It charges the budget before each part of the work. */
export type CountedImplementation = (budget: WorkBudget, ...args: Value[]) => Value

export interface Overload {
  readonly id: string
  /** True for `target.function(…)`; the target is the first parameter. */
  readonly member?: boolean
  readonly params: readonly CelType[]
  readonly result: CelType
  /** Left out where the evaluator knows the operator itself. */
  readonly call?: Implementation
  /** In place of `call`. */
  readonly countedCall?: CountedImplementation
  /** The types that values must have when it is called, where these are less exact than `params`. */
  readonly runtimeParams?: readonly CelType[]
  /** The implementation checks the types of its arguments itself. */
  readonly unguarded?: boolean
  /** cel-go computes the cost also of a call whose arguments failed, and this cost needs a list: the evaluation breaks off. */
  readonly breaksOffOnError?: boolean
  /** The error of a constant last argument with which no call can succeed. */
  readonly constantError?: (argument: Value) => CelError | undefined
  /** What one call costs at run time, where that is not 1. It is spent before the call. */
  readonly cost?: (args: readonly Value[], budget: WorkBudget) => number
  /** The same for a cost that depends on the result. It is spent after the call. */
  readonly resultCost?: (args: readonly Value[], result: Value, budget: WorkBudget) => number
  /** What one call may cost, without its arguments, and how large its result may be. */
  readonly estimate?: (call: CallNode) => CallCostEstimate | undefined
}

export interface FunctionDeclaration {
  readonly name: string
  readonly overloads: readonly Overload[]
}

/** A group of functions, types and macros. */
export interface Library {
  readonly functions: readonly FunctionDeclaration[]
  readonly macros?: readonly Macro[]
  /** Names of types that expressions may use as values. */
  readonly types?: Readonly<Record<string, CelType>>
  readonly constants?: Readonly<Record<string, { readonly type: CelType; readonly value: Value }>>
  /** The cost of `==` for two values of a type, by its name, where that does not follow from their sizes. */
  readonly equalityCosts?: Readonly<Record<string, (other: CostNode) => Interval>>
}

/** The host's own object types. */
export interface ObjectTypes {
  /** True if there is a type of that name. */
  has(name: string): boolean
  /** The type of a field, or undefined if the object type does not have it. */
  field(type: string, field: string): CelType | undefined
  /** Makes an object of that type, where expressions may: `Name{field: value}`. */
  create?(type: string, fields: ReadonlyMap<string, Value>, budget: WorkBudget): Value
}

export interface EnvironmentOptions {
  readonly libraries: readonly Library[]
  readonly variables?: Readonly<Record<string, CelType>>
  readonly objectTypes?: ObjectTypes
  /** Object types that are there beside those of the host. */
  readonly messageTypes?: Required<ObjectTypes>
  /** How the values of variables lie in memory, where they are views of something plainer. */
  readonly layouts?: Readonly<Record<string, Layout>>
  /** Names of types that pass the check, but cannot be used as values: no program can be created then. */
  readonly unusableTypes?: Readonly<Record<string, CelType>>
  /** The namespace in which names are looked up first, innermost first: `a.b`. */
  readonly container?: string
  /** `a.?b` and the like. */
  readonly optionalSyntax?: boolean
  readonly quotedIdentifiers?: boolean
  /** `1 < 2.5` without conversions. */
  readonly crossTypeNumericComparisons?: boolean
  /** All elements of a list literal, all keys and all values of a map literal must have one type. */
  readonly homogeneousLiterals?: boolean
  /** Literal durations, timestamps and patterns are checked when the expression is compiled. */
  readonly checkLiterals?: boolean
}

export interface Environment extends EnvironmentOptions {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>
  readonly macros: readonly Macro[]
  readonly types: ReadonlyMap<string, CelType>
  readonly constants: ReadonlyMap<string, { readonly type: CelType; readonly value: Value }>
  readonly equalityCosts: ReadonlyMap<string, (other: CostNode) => Interval>
  readonly objectTypes: ObjectTypes
  readonly container: string
}

export function createEnvironment(options: EnvironmentOptions): Environment {
  const functions = new Map<string, FunctionDeclaration>()
  for (const { functions: declared } of options.libraries) {
    for (const { name, overloads } of declared) {
      const before = functions.get(name)?.overloads ?? []
      functions.set(name, { name, overloads: [...before, ...overloads] })
    }
  }
  return {
    ...options,
    functions,
    macros: options.libraries.flatMap(({ macros }) => macros ?? []),
    types: new Map([...STANDARD_TYPES, ...options.libraries.flatMap(({ types }) => Object.entries(types ?? {}))]),
    constants: new Map(options.libraries.flatMap(({ constants }) => Object.entries(constants ?? {}))),
    equalityCosts: new Map(options.libraries.flatMap(({ equalityCosts }) => Object.entries(equalityCosts ?? {}))),
    objectTypes: withMessages(options.objectTypes ?? NO_OBJECT_TYPES, options.messageTypes),
    container: options.container ?? '',
  }
}

/** The environment with other variables and object types; the rest is shared, which makes this cheap. */
export const extendEnvironment = (
  environment: Environment,
  { variables, objectTypes, layouts }: Pick<EnvironmentOptions, 'variables' | 'objectTypes' | 'layouts'>,
): Environment => ({
  ...environment,
  variables: { ...environment.variables, ...variables },
  ...(objectTypes ? { objectTypes: withMessages(objectTypes, environment.messageTypes) } : {}),
  ...(layouts ? { layouts } : {}),
})

function withMessages(host: ObjectTypes, messages: Required<ObjectTypes> | undefined): ObjectTypes {
  if (messages === undefined) return host
  return {
    has: name => messages.has(name) || host.has(name),
    field: (type, field) => (messages.has(type) ? messages : host).field(type, field),
    ...(host.create && { create: host.create }),
  }
}

/** The names that a name may stand for in the container, in the order in which they are tried. */
export function candidateNames(container: string, name: string): readonly string[] {
  if (name.startsWith('.')) return [name.slice(1)]
  if (container === '') return [name]
  const candidates: string[] = []
  for (let prefix = container; prefix !== ''; prefix = prefix.slice(0, Math.max(prefix.lastIndexOf('.'), 0))) {
    candidates.push(`${prefix}.${name}`)
  }
  return [...candidates, name]
}

/** The parameters of an overload's types, found once. */
export function typeParamsOf(overload: Overload): ReadonlySet<string> {
  let found = overloadParams.get(overload)
  if (found === undefined) {
    const names = new Set<string>()
    for (const type of [...overload.params, overload.result]) paramsIn(type, names)
    found = names
    overloadParams.set(overload, found)
  }
  return found
}

const overloadParams = new WeakMap<Overload, ReadonlySet<string>>()

const NO_OBJECT_TYPES: ObjectTypes = { has: () => false, field: () => undefined }

const STANDARD_TYPES: readonly (readonly [string, CelType])[] = [
  ['bool', BOOL],
  ['bytes', BYTES],
  ['double', DOUBLE],
  ['int', INT],
  ['list', listOf(DYN)],
  ['map', mapOf(DYN, DYN)],
  ['null_type', NULL],
  ['string', STRING],
  ['type', TYPE],
  ['uint', UINT],
  ['google.protobuf.Timestamp', TIMESTAMP],
  ['google.protobuf.Duration', DURATION],
]

export const OPTIONAL_TYPE_NAME: Readonly<Record<string, CelType>> = { optional_type: opaqueType('optional_type', DYN) }
