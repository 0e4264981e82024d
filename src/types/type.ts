// What a value of the API may be: the one description that decoding, merging, patches, protobuf, CEL and OpenAPI are
// compiled from. A type is immutable, is compared by identity, and finds out what it holds when that is first read: the
// built-in types refer to themselves, and the schema of a CustomResourceDefinition is bytes until it is used. There are
// two implementations: `type-table.ts` for the built-in types, and `structuralType` of schema for custom kinds.
import type { Value, ValueObject } from '../meta/values/value.js'
import type { SpecialType } from './special/special-type.js'

export type ScalarKind = 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes'

export interface Type {
  /**
   * `object` has declared fields, `map` only members of one type. `special` is encoded by its own rules, see `special`.
   * `any` has no declared type.
   */
  readonly kind: ScalarKind | 'object' | 'map' | 'list' | 'special' | 'any'
  /** `core/v1.Container`; empty for types without a name, such as lists and the nodes of a CRD's schema. */
  readonly name: string
  /** Whose rules and error messages apply: those of Go's decoder, or those of structural schemas. */
  readonly dialect: 'go' | 'structural'
  readonly special: SpecialType | undefined
  /** The declared fields of an object by their JSON names, in the order of their declaration. */
  readonly fields: ReadonlyMap<string, Field>
  /** Without apiVersion, kind and metadata if the author of a resource's schema did not declare them. */
  readonly declaredFields: ReadonlyMap<string, Field>
  /** Of the items of a list, or of the members of a map. */
  readonly element: Type | undefined
  /** Of the members that an object does not declare; undefined if it may have no others. */
  readonly additional: Type | undefined
  /** What a decoder does with members that an object does not declare. */
  readonly unknownFields: 'drop' | 'keep'
  /** `x-kubernetes-embedded-resource`. */
  readonly embeddedResource: boolean
  readonly nullable: boolean
  readonly merge: Merge
  readonly constraints: Constraints
  /** The JSON schema as its author wrote it, if there is one that can be published. May be decoded at each access. */
  readonly written: ValueObject | undefined
  /** The same as JSON, if that is at hand without encoding it. */
  readonly writtenBytes: Uint8Array | undefined
  /** How the type is declared in Go; undefined for types without a name, and in structural schemas. */
  readonly go: GoType | undefined
  /** The types that it belongs to. */
  readonly types: Types
}

export interface Field {
  readonly name: string
  readonly type: Type
  readonly default: Value | undefined
  readonly required: boolean
  /** How the field is declared in Go; undefined in structural schemas. */
  readonly go: GoField | undefined
}

/** The declaration of a type in Go. */
export interface GoType {
  /** Its row in the type table. */
  readonly spec: TypeSpec
  /**
   * The types whose fields stand among its own in JSON. In protobuf each is a message of its own, if it has a number.
   */
  readonly inlined: readonly { readonly type: Type; readonly number: number | undefined }[]
}

/** A type, as the type table has it. */
export interface TypeSpec {
  readonly fields: readonly FieldSpec[]
  readonly required?: readonly string[]
  readonly 'map-type'?: string
  /** `x-kubernetes-unions` of OpenAPI. */
  readonly unions?: Value
}

/** The declaration of a field in Go. */
export interface GoField {
  /** Its row in the type table. */
  readonly spec: FieldSpec
  /** The type that declares it. */
  readonly declaredBy: string
  /** The inlined types that it comes from, outermost first, by their bare names. */
  readonly inlinedFrom: readonly string[]
}

/** One field of a type, as the type table has it. */
export interface FieldSpec {
  /** The JSON name; an inlined type has none. */
  readonly name?: string
  /** `string`, `bool`, `int32`, `int64`, `float64`, `bytes`, `[]T`, `{string}T`, or the name of another type. */
  readonly type: string
  readonly omitempty?: boolean
  readonly omitzero?: boolean
  readonly pointer?: boolean
  readonly inline?: boolean
  /** The protobuf field. Its wire type follows from the type: the data's own is not reliable. */
  readonly number?: number
  /** Joined by commas. */
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  readonly listType?: string
  readonly listMapKeys?: readonly string[]
  readonly mapType?: string
  readonly default?: Value
  readonly enum?: readonly string[]
  /** The enum of the elements of a list or map. */
  readonly elementEnum?: readonly string[]
  readonly format?: string
}

/** How server-side apply merges values: as one, or part by part. */
export interface Merge {
  /** An atomic list has one owner; members of a set and items of a map list have their own. */
  readonly list: 'atomic' | 'set' | 'map'
  /** The fields that identify the items of a map list. */
  readonly keys: readonly string[]
  readonly map: 'atomic' | 'granular'
}

/** The limits that a schema sets to a value, as far as they bound its size or say what a string stands for. */
export interface Constraints {
  readonly format: string
  readonly maxLength: number | undefined
  readonly maxItems: number | undefined
  readonly maxProperties: number | undefined
  readonly enum: readonly Value[]
  /** The names of required members, whether they are declared or not. */
  readonly required: readonly string[]
}

/** All types of one server. */
export interface Types {
  /** A built-in type. Throws for a name that there is not: names come from the table itself. */
  byName(name: string): Type
  /** The built-in type of a kind, as `apps/v1` and `Deployment`. */
  ofKind(apiVersion: string, kind: string): Type | undefined
  /** A value of which nothing is known. */
  readonly any: Type
  readonly cache: TypeCache
}

/** Holds what was compiled from types: each thing once for each type. */
export class TypeCache {
  // By the number of the compiling function. Weak, because the types of a CustomResourceDefinition end with it.
  private readonly compiled: WeakMap<Type, unknown>[] = []

  get<T>(id: number, compile: (type: Type) => T, type: Type): T {
    const ofTypes = (this.compiled[id] ??= new WeakMap<Type, unknown>())
    let made = ofTypes.get(type) as T | undefined
    if (made === undefined) ofTypes.set(type, (made = compile(type)))
    return made
  }
}

let compilers = 0

/** A function of types whose results are kept in the cache of the types. `compile` must not return undefined. */
export function compiledOnce<T>(compile: (type: Type) => T): (type: Type) => T {
  const id = compilers++
  return type => type.types.cache.get(id, compile, type)
}

export const NO_MERGE: Merge = { list: 'atomic', keys: [], map: 'granular' }

export const NO_CONSTRAINTS: Constraints = {
  format: '',
  maxLength: undefined,
  maxItems: undefined,
  maxProperties: undefined,
  enum: [],
  required: [],
}

export const NO_FIELDS: ReadonlyMap<string, Field> = new Map()

/** `Container` of `core/v1.Container`. */
export const bareName = (type: string): string => type.slice(type.lastIndexOf('.') + 1)
