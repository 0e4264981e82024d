// Reads the cases of the public conformance suite, whose values are protobuf messages in JSON.
import {
  ANY,
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
  objectType,
  opaqueType,
  STRING,
  TIMESTAMP,
  TYPE,
  typeOf,
  typeParam,
  UINT,
  wrapperOf,
} from './check/cel-type.js'
import { createEnvironment, type Environment, type FunctionDeclaration, type Library } from './environment.js'
import { BINDINGS_LIBRARY } from './libraries/bindings.js'
import { OPTIONAL_LIBRARY } from './libraries/optional.js'
import { EXISTS_ONE_LIBRARY, STANDARD_LIBRARY } from './libraries/standard.js'
import { STRINGS_LIBRARY } from './libraries/strings.js'
import { TWO_VARIABLE_LIBRARY } from './libraries/two-variable-comprehensions.js'
import { MESSAGE_NAMES, NULL_VALUE, WELL_KNOWN_MESSAGES } from './libraries/well-known-messages.js'
import { Duration, durationFromText, parseTimestamp } from './values/moments.js'
import { Double, intOf, Uint } from './values/numbers.js'
import { mapFrom, TypeValue, type Value } from './values/values.js'

export interface Case {
  readonly name?: string
  readonly expr: string
  readonly disableCheck?: boolean
  readonly disableMacros?: boolean
  readonly checkOnly?: boolean
  readonly container?: string
  readonly typeEnv?: readonly {
    readonly name: string
    readonly ident?: { readonly type: ProtoType }
    readonly function?: { readonly overloads: readonly ProtoOverload[] }
  }[]
  readonly bindings?: Readonly<Record<string, { readonly value?: ProtoValue }>>
  readonly value?: ProtoValue
  readonly typedResult?: { readonly result?: ProtoValue; readonly deducedType?: ProtoType }
  readonly evalError?: unknown
  readonly anyEvalErrors?: unknown
}

interface ProtoOverload {
  readonly overloadId: string
  readonly params?: readonly ProtoType[]
  readonly resultType: ProtoType
  readonly isInstanceFunction?: boolean
}

export type ProtoType = Readonly<Record<string, unknown>>
export type ProtoValue = Readonly<Record<string, unknown>>

/** Thrown for what only protobuf messages can say. */
export class NeedsMessages extends Error {}

const PRIMITIVES: Readonly<Record<string, CelType>> = {
  BOOL,
  INT64: INT,
  UINT64: UINT,
  DOUBLE,
  STRING,
  BYTES,
}

export function readType(type: ProtoType): CelType {
  const [[kind, value] = ['', undefined]] = Object.entries(type)
  switch (kind) {
    case 'primitive':
      return PRIMITIVES[value as string]!
    case 'wrapper':
      return wrapperOf(PRIMITIVES[value as string]!)
    case 'dyn':
      return DYN
    case 'null':
      return NULL
    case 'wellKnown':
      return value === 'ANY' ? ANY : value === 'TIMESTAMP' ? TIMESTAMP : DURATION
    case 'listType':
      return listOf(readType((value as { elemType?: ProtoType }).elemType ?? { dyn: {} }))
    case 'mapType': {
      const { keyType, valueType } = value as { keyType?: ProtoType; valueType?: ProtoType }
      return mapOf(readType(keyType ?? { dyn: {} }), readType(valueType ?? { dyn: {} }))
    }
    case 'type':
      return Object.keys(value as object).length === 0 ? TYPE : typeOf(readType(value as ProtoType))
    case 'typeParam':
      return typeParam(value as string)
    case 'abstractType': {
      const { name, parameterTypes = [] } = value as { name: string; parameterTypes?: readonly ProtoType[] }
      return opaqueType(name, ...parameterTypes.map(readType))
    }
    case 'messageType':
      if (value === 'google.protobuf.Timestamp') return TIMESTAMP
      if (value === 'google.protobuf.Duration') return DURATION
      return MESSAGE_NAMES[value as string] ?? objectType(value as string)
    default:
      throw new NeedsMessages(kind)
  }
}

const NAMED: Readonly<Record<string, CelType>> = {
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
  list: listOf(DYN),
  map: mapOf(DYN, DYN),
  null_type: NULL,
  type: TYPE,
  'google.protobuf.Timestamp': TIMESTAMP,
  'google.protobuf.Duration': DURATION,
  optional_type: opaqueType('optional_type', DYN),
}

export function readValue(value: ProtoValue): Value {
  const [[kind, content] = ['', undefined]] = Object.entries(value)
  switch (kind) {
    case 'nullValue':
      return null
    case 'boolValue':
    case 'stringValue':
      return content as boolean | string
    case 'int64Value':
      return intOf(BigInt(content as string))
    case 'uint64Value':
      return new Uint(BigInt(content as string))
    case 'doubleValue':
      return new Double(Number(content))
    case 'bytesValue':
      return new Uint8Array(Buffer.from(content as string, 'base64'))
    case 'listValue':
      return ((content as { values?: readonly ProtoValue[] }).values ?? []).map(readValue)
    case 'mapValue':
      return mapFrom(
        ((content as { entries?: readonly { key: ProtoValue; value: ProtoValue }[] }).entries ?? []).map(
          ({ key, value: entry }) => [readValue(key), readValue(entry)] as const,
        ),
      )
    case 'typeValue': {
      const type = NAMED[content as string]
      if (!type) throw new NeedsMessages(content as string)
      return new TypeValue(type)
    }
    case 'objectValue': {
      const { '@type': url = '', value: inner } = content as { '@type'?: string; value?: unknown }
      if (url.endsWith('google.protobuf.Timestamp')) return parseTimestamp(inner as string)!
      if (url.endsWith('google.protobuf.Duration')) return durationFromText(inner as string) ?? new Duration(0n)
      throw new NeedsMessages(url)
    }
    default:
      throw new NeedsMessages(kind)
  }
}

export const readFunction = (name: string, overloads: readonly ProtoOverload[]): FunctionDeclaration => ({
  name,
  overloads: overloads.map(({ overloadId, params = [], resultType, isInstanceFunction = false }) => ({
    id: overloadId,
    member: isInstanceFunction,
    params: params.map(readType),
    result: readType(resultType),
  })),
})

export interface BaselineCase {
  readonly name: string
  readonly original: Case
  readonly ast?: string
  readonly checkedAst?: string
  readonly error?: string
}

export interface Suite {
  readonly name: string
  readonly suites?: readonly Suite[]
  readonly tests?: readonly Omit<BaselineCase, 'name'>[]
}

export function* casesOf(suite: Suite, path: readonly string[] = []): Generator<BaselineCase> {
  for (const baseline of suite.tests ?? []) {
    yield { ...baseline, name: [...path, baseline.original.name ?? baseline.original.expr].join('/') }
  }
  for (const inner of suite.suites ?? []) yield* casesOf(inner, [...path, inner.name])
}

/** True for cases that declare, make or get protobuf messages. */
export const needsMessages = (original: Case): boolean =>
  /TestAllTypes|NestedTestAllTypes|Proto2Message|google\.protobuf\.Any/.test(JSON.stringify(original)) ||
  /^(?:cel\.)?(?:expr\.)?conformance\./.test(original.container ?? '') ||
  original.expr.includes('.conformance.')

const LANGUAGE: readonly Library[] = [STANDARD_LIBRARY, EXISTS_ONE_LIBRARY, OPTIONAL_LIBRARY]
const EXTENSIONS: readonly Library[] = [TWO_VARIABLE_LIBRARY, STRINGS_LIBRARY, BINDINGS_LIBRARY]

/** What the cases about checking take as given. */
const COMMON_VARIABLES = { is: STRING, ii: INT, iu: UINT, iz: BOOL, ib: BYTES, id: DOUBLE, ix: NULL }
const COMMON_FUNCTIONS: readonly FunctionDeclaration[] = [
  { name: 'fg_s', overloads: [{ id: 'fg_s_0', params: [], result: STRING }] },
  { name: 'fi_s_s', overloads: [{ id: 'fi_s_s_0', member: true, params: [STRING], result: STRING }] },
]

/** What a case may refer to. */
export function baselineEnvironment(original: Case, { extensions = true } = {}): Environment {
  const declared = original.typeEnv ?? []
  const variables = declared.flatMap(({ name, ident }) => (ident ? [[name, readType(ident.type)] as const] : []))
  const functions = declared.flatMap(d => (d.function ? [readFunction(d.name, d.function.overloads)] : []))
  const libraries: Library[] = [
    ...LANGUAGE,
    { functions: [], constants: NULL_VALUE },
    ...(extensions ? EXTENSIONS : []),
    { functions: extensions ? functions : [...COMMON_FUNCTIONS, ...functions] },
  ]
  return createEnvironment({
    libraries: original.disableMacros === true ? libraries.map(library => ({ ...library, macros: [] })) : libraries,
    variables: { ...(extensions ? {} : COMMON_VARIABLES), ...Object.fromEntries(variables) },
    container: original.container ?? '',
    messageTypes: WELL_KNOWN_MESSAGES,
    unusableTypes: MESSAGE_NAMES,
    optionalSyntax: true,
    quotedIdentifiers: true,
    crossTypeNumericComparisons: extensions,
  })
}
