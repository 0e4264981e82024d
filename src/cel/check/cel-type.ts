// The types of expressions, as plain values.

export type TypeKind =
  | 'dyn'
  | 'any'
  | 'error'
  | 'null'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'timestamp'
  | 'duration'
  | 'list'
  | 'map'
  | 'type'
  | 'object'
  | 'opaque'
  | 'param'

export interface CelType {
  readonly kind: TypeKind
  /** The name at run time: `int`, `google.protobuf.Timestamp`, the name of an object or opaque type or parameter. */
  readonly name: string
  readonly params: readonly CelType[]
  /** A wrapper: the type, or null. */
  readonly nullable?: boolean
}

const simple = (kind: TypeKind, name: string = kind): CelType => ({ kind, name, params: [] })

export const DYN = simple('dyn')
export const ANY = simple('any', 'google.protobuf.Any')
export const ERROR = simple('error', '!error!')
export const NULL = simple('null', 'null_type')
export const BOOL = simple('bool')
export const INT = simple('int')
export const UINT = simple('uint')
export const DOUBLE = simple('double')
export const STRING = simple('string')
export const BYTES = simple('bytes')
export const TIMESTAMP = simple('timestamp', 'google.protobuf.Timestamp')
export const DURATION = simple('duration', 'google.protobuf.Duration')
/** The type of types of which nothing more is known. */
export const TYPE = simple('type')

export const listOf = (element: CelType): CelType => ({ kind: 'list', name: 'list', params: [element] })
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: 'map', name: 'map', params: [key, value] })
export const typeOf = (type: CelType): CelType => ({ kind: 'type', name: 'type', params: [type] })
export const wrapperOf = (type: CelType): CelType => ({ ...type, nullable: true })
export const objectType = (name: string): CelType => ({ kind: 'object', name, params: [] })
export const opaqueType = (name: string, ...params: CelType[]): CelType => ({ kind: 'opaque', name, params })
export const typeParam = (name: string): CelType => ({ kind: 'param', name, params: [] })
export const optionalOf = (type: CelType): CelType => opaqueType('optional_type', type)

export const isOptional = (type: CelType): boolean => type.kind === 'opaque' && type.name === 'optional_type'
export const isDyn = ({ kind }: CelType): boolean => kind === 'dyn' || kind === 'any'
export const isDynOrError = (type: CelType): boolean => type.kind === 'error' || isDyn(type)

/** The same in every part. */
export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true
  return (
    a.kind === b.kind &&
    a.name === b.name &&
    (a.nullable ?? false) === (b.nullable ?? false) &&
    a.params.length === b.params.length &&
    a.params.every((param, i) => sameType(param, b.params[i]!))
  )
}

/** The same for values: a wrapper is then the type that it wraps. */
export const sameValues = (a: CelType, b: CelType): boolean =>
  a === b ||
  (a.kind === b.kind &&
    a.name === b.name &&
    a.params.length === b.params.length &&
    a.params.every((param, i) => sameValues(param, b.params[i]!)))

/** A type as messages show it: `map(string, list(int))`. */
export function printType(type: CelType): string {
  if (type.nullable === true) return `wrapper(${type.name})`
  switch (type.kind) {
    case 'timestamp':
    case 'duration':
    case 'any':
      return type.kind
    case 'null':
      return 'null'
    default:
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(printType).join(', ')})`
  }
}

/** The name by which cel-go knows a type at run time: `null_type`, `google.protobuf.Timestamp`. */
export function runtimeTypeName(type: CelType): string {
  if (type.nullable === true) return `wrapper(${type.name})`
  return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(runtimeTypeName).join(', ')})`
}

const sizes = new WeakMap<CelType, number>()

/** How many types a type consists of, itself included. */
export function sizeOfType(type: CelType): number {
  const { params } = type
  if (params.length === 0) return 1
  let size = sizes.get(type)
  if (size === undefined) {
    size = params.reduce((sum, param) => sum + sizeOfType(param), 1)
    sizes.set(type, size)
  }
  return size
}

/** The names of the parameters that occur in a type. */
export function paramsIn(type: CelType, found = new Set<string>()): ReadonlySet<string> {
  if (type.kind === 'param') found.add(type.name)
  for (const param of type.params) paramsIn(param, found)
  return found
}
