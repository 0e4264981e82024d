// Types of the API as CEL declares them: the CEL type of each part, its fields by the names that expressions use, and
// how large a value can get in one request. Parts without a type are hidden: they have no declared type, and neither
// have lists and maps of them.
import { type CelType, type ObjectTypes, types } from '../../cel/index.js'
import type { Value } from '../../meta/values/value.js'
import type { Constraints, Field, Type } from '../type.js'
import { escapeName, isReserved } from './field-names.js'

export interface DeclaredType {
  /** `dyn` is int-or-string. */
  readonly kind:
    | 'object'
    | 'map'
    | 'list'
    | 'string'
    | 'bytes'
    | 'timestamp'
    | 'duration'
    | 'bool'
    | 'int'
    | 'double'
    | 'dyn'
  readonly celType: CelType
  readonly type: Type
  /** The fields of an object by the names that expressions use. */
  readonly fields: ReadonlyMap<string, DeclaredField>
  /** Properties of an object whose names no expression can spell. Expressions see them only as their own root. */
  readonly unnamed: ReadonlyMap<string, DeclaredType>
  /** The type of the items of a list, or of the members of a map. */
  readonly element: DeclaredType | undefined
  /** The most items, entries, characters or bytes that it may have; 0 for types without a size. */
  readonly maxSize: number
  /** The fewest bytes that it takes up in JSON. */
  readonly minBytes: number
}

export interface DeclaredField {
  readonly property: string
  readonly declared: DeclaredType
}

export interface Declarations {
  readonly root: DeclaredType
  /** The object types in it, for the environment of expressions. */
  readonly objectTypes: ObjectTypes
}

export interface DeclareOptions {
  /** A resource: it has apiVersion, kind and the names in metadata, whatever its type says. */
  readonly isResource?: boolean
  /** All fields of a resource as they are published, so that metadata has all its fields. */
  readonly isPublished?: boolean
  /** The CEL name of the root; the types below are named by their paths from it. */
  readonly rootName?: string
}

/** Declares a type with all that is below it; undefined if it is hidden. */
export function declareTypes(
  type: Type,
  { isResource = false, isPublished = false, rootName = 'selfType' }: DeclareOptions,
): Declarations | undefined {
  const objects = new Map<string, DeclaredType>()
  const declarer = new Declarer(objects, rootName)
  const root = isPublished ? declarer.declarePublished(type, rootName) : declarer.declare(type, isResource, rootName)
  if (root === undefined) return undefined
  const objectTypes: ObjectTypes = {
    has: name => objects.has(name),
    field(name, field) {
      const declared = objects.get(name)
      return declared === undefined ? undefined : fieldOf(declared, field)?.declared.celType
    },
  }
  return { root, objectTypes }
}

/** A field by the name that an expression selects: escaped, or a reserved word as it is. */
export function fieldOf({ fields }: DeclaredType, name: string): DeclaredField | undefined {
  return fields.get(name) ?? (isReserved(name) ? fields.get(`__${name}__`) : undefined)
}

/** Names of types are their paths, unless those get too long. */
const MAX_NAME = 256

const NO_FIELDS: ReadonlyMap<string, DeclaredField> = new Map()
const NONE_UNNAMED: ReadonlyMap<string, DeclaredType> = new Map()

class Declarer {
  /** The named types around the one that is being declared: one that contains itself is an empty object there. */
  private readonly open = new Set<string>()

  constructor(
    private readonly objects: Map<string, DeclaredType>,
    private readonly rootName: string,
  ) {}

  declare(type: Type, isResource: boolean, name: string): DeclaredType | undefined {
    if (type.special !== undefined) return this.declareSpecial(type, name)
    switch (type.kind) {
      case 'list':
        return this.declareList(type, name)
      case 'map':
        return this.declareMap(type, type.element!, name)
      case 'object':
        return type.additional === undefined || type.additional === type.types.any
          ? this.declareObject(type, isResource, name)
          : this.declareMap(type, type.additional, name)
      case 'string':
        return declareString(type)
      case 'bytes':
        return scalar('bytes', types.BYTES, type, 2, maxBytes(type.constraints))
      case 'bool':
        return scalar('bool', types.BOOL, type, 4, 0)
      case 'float64':
        return scalar('double', types.DOUBLE, type, 1, 0)
      case 'int32':
      case 'int64':
        return scalar('int', types.INT, type, 1, 0)
      default:
        return undefined
    }
  }

  /** An object with all fields of a resource, also those that its author did not declare. */
  declarePublished(type: Type, name: string): DeclaredType | undefined {
    return type.kind === 'object' ? this.declareObject(type, false, name, type.fields) : this.declare(type, true, name)
  }

  private declareSpecial(type: Type, name: string): DeclaredType | undefined {
    switch (type.special!.cel) {
      case 'dyn':
        return scalar('dyn', types.DYN, type, 1, maxCharacters(type.constraints) ?? MAX_STRING)
      case 'timestamp':
        return scalar('timestamp', types.TIMESTAMP, type, 21, 32)
      case 'object':
        return this.emptyObject(type, name)
      case 'hidden':
        return undefined
    }
  }

  private below(type: Type, name: string): DeclaredType | undefined {
    return this.declare(type, type.embeddedResource, name)
  }

  private declareList(type: Type, name: string): DeclaredType | undefined {
    const element = type.element && this.below(type.element, `${name}.@idx`)
    if (element === undefined) return undefined
    const { maxItems } = type.constraints
    return {
      kind: 'list',
      celType: types.listOf(element.celType),
      type,
      fields: NO_FIELDS,
      unnamed: NONE_UNNAMED,
      element,
      maxSize: maxItems === undefined ? fitting(element.minBytes + 1) : Math.max(maxItems, 0),
      minBytes: 2,
    }
  }

  private declareMap(type: Type, values: Type, name: string): DeclaredType | undefined {
    const element = this.below(values, `${name}.@elem`)
    if (element === undefined) return undefined
    const { maxProperties } = type.constraints
    return {
      kind: 'map',
      celType: types.mapOf(types.STRING, element.celType),
      type,
      fields: NO_FIELDS,
      unnamed: NONE_UNNAMED,
      element,
      // A key of two characters at least, its quotes, a colon and a comma.
      maxSize: maxProperties === undefined ? fitting(element.minBytes + 6) : Math.max(maxProperties, 0),
      minBytes: 2,
    }
  }

  private declareObject(
    type: Type,
    isResource: boolean,
    wanted: string,
    declaredFields = type.declaredFields,
  ): DeclaredType {
    if (type.name !== '' && this.open.has(type.name)) return this.emptyObject(type, wanted)
    this.open.add(type.name)
    const fields = new Map<string, DeclaredField>()
    let unnamed: Map<string, DeclaredType> | undefined
    const name = this.nameFor(wanted)
    let minBytes = 2
    const lacksMeta = isResource && !declaresMeta(type)
    const declareField = ({ name: property, type: member, required, default: value }: Field): void => {
      const field = escapeName(property)
      const declared = this.below(member, `${name}.${field ?? `@${unnamed?.size ?? 0}`}`)
      if (declared === undefined) return
      if (field === undefined) unnamed = (unnamed ?? new Map<string, DeclaredType>()).set(property, declared)
      else fields.set(field, { property, declared })
      // Its name in quotes, a colon and a comma. A field with a default need not be sent.
      if (required && value === undefined) minBytes += Buffer.byteLength(property) + declared.minBytes + 4
    }
    for (const field of declaredFields.values()) {
      if (!lacksMeta || !META_FIELDS.has(field.name)) declareField(field)
    }
    if (lacksMeta) {
      this.addMeta(type, fields, name)
      for (const property of META_FIELDS) {
        const isRequired = type.constraints.required.includes(property)
        if (isRequired) minBytes += Buffer.byteLength(property) + fields.get(property)!.declared.minBytes + 4
      }
    }
    this.open.delete(type.name)
    return this.add(name, { ...EMPTY_OBJECT, type, fields, unnamed: unnamed ?? NONE_UNNAMED, minBytes })
  }

  private emptyObject(type: Type, wanted: string): DeclaredType {
    return this.add(this.nameFor(wanted), { ...EMPTY_OBJECT, type })
  }

  /** apiVersion, kind and the names in metadata, whatever the type says of them. */
  private addMeta(type: Type, fields: Map<string, DeclaredField>, name: string): void {
    const text = anyString(type)
    const names = new Map(['name', 'generateName'].map(property => [property, { property, declared: text }]))
    const metadata = this.add(this.nameFor(`${name}.metadata`), {
      ...EMPTY_OBJECT,
      type: type.types.byName('meta/v1.ObjectMeta'),
      fields: names,
    })
    fields.set('kind', { property: 'kind', declared: text })
    fields.set('apiVersion', { property: 'apiVersion', declared: text })
    fields.set('metadata', { property: 'metadata', declared: metadata })
  }

  private nameFor(wanted: string): string {
    return wanted.length > MAX_NAME ? `${this.rootName}${this.objects.size}` : wanted
  }

  private add(name: string, object: Omit<DeclaredType, 'celType'>): DeclaredType {
    const declared = { ...object, celType: types.objectType(name) }
    this.objects.set(name, declared)
    return declared
  }
}

const META_FIELDS: ReadonlySet<string> = new Set(['kind', 'apiVersion', 'metadata'])

/** A type that declares all these fields is taken at its word. */
function declaresMeta({ declaredFields }: Type): boolean {
  const kindOf = (fields: ReadonlyMap<string, Field>, name: string): Type['kind'] | undefined =>
    fields.get(name)?.type.kind
  const metadata = declaredFields.get('metadata')?.type
  return (
    kindOf(declaredFields, 'kind') === 'string' &&
    kindOf(declaredFields, 'apiVersion') === 'string' &&
    metadata?.kind === 'object' &&
    kindOf(metadata.declaredFields, 'name') === 'string' &&
    kindOf(metadata.declaredFields, 'generateName') === 'string'
  )
}

const EMPTY_OBJECT = {
  kind: 'object',
  fields: NO_FIELDS,
  unnamed: NONE_UNNAMED,
  element: undefined,
  maxSize: 0,
  minBytes: 2,
} as const

function declareString(type: Type): DeclaredType {
  const { constraints } = type
  switch (constraints.format) {
    case 'byte':
      return scalar('bytes', types.BYTES, type, 2, maxBytes(constraints))
    case 'duration':
      return scalar('duration', types.DURATION, type, 3, 32)
    case 'date':
      return scalar('timestamp', types.TIMESTAMP, type, 12, 12)
    case 'date-time':
      return scalar('timestamp', types.TIMESTAMP, type, 21, 32)
  }
  const { enum: values } = constraints
  const maxSize = maxCharacters(constraints) ?? (values.length > 0 ? longest(values) : MAX_STRING)
  return scalar('string', types.STRING, type, 2, maxSize)
}

const anyString = ({ types: all }: Type): DeclaredType =>
  scalar('string', types.STRING, all.byName('meta/v1.ObjectMeta').fields.get('name')!.type, 2, MAX_STRING)

const longest = (values: readonly Value[]): number =>
  values.reduce<number>((max, value) => (typeof value === 'string' ? Math.max(max, Buffer.byteLength(value)) : max), 0)

const scalar = (
  kind: DeclaredType['kind'],
  celType: CelType,
  type: Type,
  minBytes: number,
  maxSize: number,
): DeclaredType => ({
  kind,
  celType,
  type,
  fields: NO_FIELDS,
  unnamed: NONE_UNNAMED,
  element: undefined,
  maxSize,
  minBytes,
})

// ---- sizes

/** The largest body that a request may have. */
const MAX_REQUEST_BYTES = 3 * 1024 * 1024
const MAX_STRING = MAX_REQUEST_BYTES - 2

/** How many values of some bytes each fit into a request, in their brackets. */
const fitting = (bytes: number): number => Math.floor((MAX_REQUEST_BYTES - 2) / bytes)

/** How many values of a type fit into one request, a comma behind each. */
export const timesInRequest = ({ minBytes }: DeclaredType): number => Math.floor(MAX_REQUEST_BYTES / (minBytes + 1))

const maxBytes = ({ maxLength }: Constraints): number => (maxLength === undefined ? MAX_STRING : Math.max(maxLength, 0))

/** Lengths of strings are counted in characters, costs in bytes; a character has up to four. */
const maxCharacters = ({ maxLength }: Constraints): number | undefined =>
  maxLength === undefined ? undefined : Math.max(maxLength, 0) * 4
