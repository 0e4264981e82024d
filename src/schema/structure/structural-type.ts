// The type of the objects of a custom kind, from its schema. The schema is parsed when the type is first looked into,
// and its nodes become types one by one.
import type { Value, ValueObject } from '../../meta/values/value.js'
import {
  type Constraints,
  type Field,
  type Merge,
  NO_FIELDS,
  NO_MERGE,
  type Type,
  type Types,
} from '../../types/type.js'
import { parseSchema, type Schema } from './structural.js'

export interface StructuralSource {
  /** Undefined if there is none that can be relied upon: all that is in an object is then known from its values. */
  schema(): Schema | undefined
  /** The same as its author wrote it; undefined if it cannot be published. */
  written(): ValueObject | undefined
  /** The same as it is stored, if it is read only when it is needed. */
  readonly writtenBytes?: Uint8Array | undefined
  /** Of a definition of v1beta1: unknown fields are kept everywhere. */
  readonly preserveUnknownFields?: boolean | undefined
}

/** The type of a custom resource: it has apiVersion, kind and metadata, whatever its schema says of them. */
export const structuralType = (types: Types, source: StructuralSource): Type =>
  new StructuralType(types, undefined, source, true, source.preserveUnknownFields === true)

/** The type of a part of a schema. */
export const partType = (types: Types, schema: Schema): Type =>
  new StructuralType(types, schema, undefined, false, false)

class StructuralType implements Type {
  readonly name = ''
  readonly dialect = 'structural'
  readonly go = undefined
  private foundFields: ReadonlyMap<string, Field> | undefined
  private foundDeclared: ReadonlyMap<string, Field> | undefined
  private foundElement: { readonly type: Type | undefined } | undefined
  private foundAdditional: { readonly type: Type | undefined } | undefined

  constructor(
    readonly types: Types,
    private foundSchema: Schema | undefined,
    private readonly source: StructuralSource | undefined,
    /** Whether the schema is that of a whole resource. */
    private readonly isResource: boolean,
    /** Whether a part above it keeps unknown fields: server-side apply then lets everything below have them. */
    private readonly keptAbove: boolean,
  ) {}

  private get schema(): Schema {
    return (this.foundSchema ??= this.source?.schema() ?? UNKNOWN)
  }

  get kind(): Type['kind'] {
    const { type, properties, additionalProperties, extensions } = this.schema
    switch (type) {
      case 'object':
        return typeof additionalProperties === 'object' && properties.size === 0 && !this.hasTypeMeta ? 'map' : 'object'
      case 'array':
        return 'list'
      case 'string':
        return 'string'
      case 'boolean':
        return 'bool'
      case 'integer':
        return 'int64'
      case 'number':
        return 'float64'
      default:
        return this.isResource ? 'object' : extensions.intOrString ? 'special' : 'any'
    }
  }

  get special(): Type['special'] {
    return this.schema.extensions.intOrString ? this.types.byName('util/intstr.IntOrString').special : undefined
  }

  get fields(): ReadonlyMap<string, Field> {
    return (this.foundFields ??= this.makeFields())
  }

  get declaredFields(): ReadonlyMap<string, Field> {
    return (this.foundDeclared ??= this.makeDeclaredFields())
  }

  get element(): Type | undefined {
    this.foundElement ??= { type: this.makeElement() }
    return this.foundElement.type
  }

  get additional(): Type | undefined {
    this.foundAdditional ??= { type: this.makeAdditional() }
    return this.foundAdditional.type
  }

  get unknownFields(): 'drop' | 'keep' {
    return this.schema.extensions.preserveUnknownFields === true ? 'keep' : 'drop'
  }

  get embeddedResource(): boolean {
    return this.schema.extensions.embeddedResource
  }

  get nullable(): boolean {
    return this.schema.nullable
  }

  get merge(): Merge {
    const { listType, listMapKeys, mapType } = this.schema.extensions
    if (listType === undefined && mapType === undefined) return NO_MERGE
    return {
      list: listType === 'set' || listType === 'map' ? listType : 'atomic',
      keys: listMapKeys,
      map: mapType === 'atomic' ? 'atomic' : 'granular',
    }
  }

  get constraints(): Constraints {
    return this.schema.checks
  }

  get written(): ValueObject | undefined {
    return this.source?.written()
  }

  get writtenBytes(): Uint8Array | undefined {
    return this.source?.writtenBytes
  }

  private get hasTypeMeta(): boolean {
    return (this.isResource && this.schema !== UNKNOWN) || this.schema.extensions.embeddedResource
  }

  private get keeps(): boolean {
    return this.keptAbove || this.schema.extensions.preserveUnknownFields === true
  }

  private below(schema: Schema): Type {
    return new StructuralType(this.types, schema, undefined, false, this.keeps)
  }

  private makeFields(): ReadonlyMap<string, Field> {
    if (!this.hasTypeMeta) return this.declaredFields
    const fields = new Map(this.types.byName(PARTIAL_OBJECT).fields)
    for (const [name, field] of this.declaredFields) if (!fields.has(name)) fields.set(name, field)
    return fields
  }

  private makeDeclaredFields(): ReadonlyMap<string, Field> {
    const { properties, checks } = this.schema
    if (properties.size === 0) return NO_FIELDS
    const fields = new Map<string, Field>()
    const requiredNames = new Set(checks.required)
    for (const [name, schema] of properties) {
      const required = requiredNames.has(name)
      fields.set(name, new StructuralField(name, schema.default, required, () => this.below(schema)))
    }
    return fields
  }

  private makeElement(): Type | undefined {
    const { items } = this.schema
    if (this.kind === 'map') return this.additional
    return items && this.below(items)
  }

  private makeAdditional(): Type | undefined {
    const { additionalProperties } = this.schema
    if (typeof additionalProperties === 'object') return this.below(additionalProperties)
    if (additionalProperties !== undefined) return additionalProperties ? this.types.any : undefined
    // An object that declares no fields may have any.
    return this.keeps || this.fields.size === 0 ? this.types.any : undefined
  }
}

const UNKNOWN = parseSchema({ type: 'object' })

/** apiVersion, kind and metadata. */
const PARTIAL_OBJECT = 'meta/v1.PartialObjectMetadata'

class StructuralField implements Field {
  readonly default: Value | undefined
  readonly go = undefined
  private found: Type | undefined

  constructor(
    readonly name: string,
    value: Value | undefined,
    readonly required: boolean,
    private readonly make: () => Type,
  ) {
    this.default = value
  }

  get type(): Type {
    return (this.found ??= this.make())
  }
}
