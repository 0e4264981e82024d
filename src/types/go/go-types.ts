// The built-in types, from the rows of the type table. Types refer to each other and to themselves: what one holds is
// looked up when it is first read.
import { once } from '../../base/memo.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import type { SpecialType } from '../special/special-type.js'
import { SPECIAL_TYPES } from '../special/special-types.js'
import {
  bareName,
  type Constraints,
  type Field,
  type FieldSpec,
  type GoField,
  type GoType,
  type Merge,
  NO_CONSTRAINTS,
  NO_FIELDS,
  NO_MERGE,
  type ScalarKind,
  type Type,
  TypeCache,
  type TypeSpec,
  type Types,
} from '../type.js'

/** `specs` by the names of types, `kinds` by `apps/v1 Deployment`. */
export function goTypes(specs: ReadonlyMap<string, TypeSpec>, kinds: ReadonlyMap<string, string>): Types {
  return new GoTypes(specs, kinds)
}

class GoTypes implements Types {
  readonly cache = new TypeCache()
  readonly any: Type = new GoTypeNode(this, { kind: 'any' })
  private readonly named = new Map<string, Type>()
  private readonly scalars = new Map<string, Type>()

  constructor(
    private readonly specs: ReadonlyMap<string, TypeSpec>,
    private readonly kinds: ReadonlyMap<string, string>,
  ) {
    for (const kind of SCALARS) this.scalars.set(kind, new GoTypeNode(this, { kind }))
  }

  byName(name: string): Type {
    let type = this.named.get(name)
    if (type === undefined) this.named.set(name, (type = this.makeNamed(name)))
    return type
  }

  ofKind(apiVersion: string, kind: string): Type | undefined {
    const name = this.kinds.get(`${apiVersion} ${kind}`)
    return name === undefined ? undefined : this.byName(name)
  }

  private makeNamed(name: string): Type {
    const spec = this.specs.get(name)
    const special = SPECIAL_TYPES.get(name)
    if (spec === undefined && special === undefined) throw new Error(`there is no type ${name} among the built-in ones`)
    return new GoTypeNode(this, {
      kind: special === undefined ? 'object' : 'special',
      name,
      special,
      merge: spec?.['map-type'] === 'atomic' ? ATOMIC_MAP : undefined,
      fields: () => this.fieldsOf(name),
      go: spec && this.declarationOf(spec),
    })
  }

  private declarationOf(spec: TypeSpec): GoType {
    const inlined = once(() =>
      spec.fields
        .filter(({ name, type }) => name === undefined && this.specs.has(type))
        .map(({ type, number }) => ({ type: this.byName(type), number })),
    )
    return {
      spec,
      get inlined() {
        return inlined()
      },
    }
  }

  private fieldsOf(name: string): ReadonlyMap<string, Field> {
    const fields = new Map<string, Field>()
    for (const { spec, declaredBy, inlinedFrom } of flatten(this.specs, name, [])) {
      fields.set(spec.name!, new GoFieldNode(this, spec, declaredBy, inlinedFrom, this.specs.get(declaredBy)?.required))
    }
    return fields.size === 0 ? NO_FIELDS : fields
  }

  /**
   * Reads the name of a type in the data: `[]core/v1.Container`, `{string}bytes`. `field` declares how it is merged.
   */
  parse(text: string, field: FieldSpec | undefined): Type {
    if (text.startsWith('[]')) {
      const merge = field && listMerge(field)
      return new GoTypeNode(this, { kind: 'list', merge, element: () => this.parse(text.slice(2), undefined) })
    }
    if (text.startsWith('{')) {
      const element = text.slice(text.indexOf('}') + 1)
      const merge = field?.mapType === 'atomic' ? ATOMIC_MAP : undefined
      return new GoTypeNode(this, { kind: 'map', merge, element: () => this.parse(element, undefined) })
    }
    const type = this.scalars.get(text) ?? this.byName(text)
    return field?.mapType === undefined || field.mapType === type.merge.map ? type : this.mergedAs(type, field.mapType)
  }

  /** The type where a field declares that it is merged in another way than elsewhere. */
  private mergedAs(type: Type, mapType: string): Type {
    const { kind, name, special, go } = type
    const merge = mapType === 'atomic' ? ATOMIC_MAP : NO_MERGE
    return new GoTypeNode(this, { kind, name, special, go, merge, fields: () => type.fields })
  }
}

const SCALARS: readonly ScalarKind[] = ['string', 'bool', 'int32', 'int64', 'float64', 'bytes']

/** Without the fields that every built-in type has alike. */
interface GoTypeParts {
  readonly kind: Type['kind']
  readonly name?: string
  readonly special?: SpecialType | undefined
  readonly go?: GoType | undefined
  readonly merge?: Merge | undefined
  readonly fields?: () => ReadonlyMap<string, Field>
  readonly element?: () => Type
}

class GoTypeNode implements Type {
  readonly kind: Type['kind']
  readonly name: string
  readonly dialect = 'go'
  readonly special: SpecialType | undefined
  readonly unknownFields = 'drop'
  readonly embeddedResource = false
  readonly nullable = false
  readonly merge: Merge
  readonly constraints: Constraints = NO_CONSTRAINTS
  readonly go: GoType | undefined
  readonly written: ValueObject | undefined = undefined
  readonly writtenBytes: Uint8Array | undefined = undefined
  private foundFields: ReadonlyMap<string, Field> | undefined
  private foundElement: Type | undefined

  constructor(
    readonly types: Types,
    private readonly parts: GoTypeParts,
  ) {
    this.kind = parts.kind
    this.name = parts.name ?? ''
    this.special = parts.special
    this.merge = parts.merge ?? NO_MERGE
    this.go = parts.go
  }

  get fields(): ReadonlyMap<string, Field> {
    return (this.foundFields ??= this.parts.fields?.() ?? NO_FIELDS)
  }

  get declaredFields(): ReadonlyMap<string, Field> {
    return this.fields
  }

  get element(): Type | undefined {
    return (this.foundElement ??= this.parts.element?.())
  }

  /** Decoding drops what a struct does not declare, but a struct without fields is published as one of any members. */
  get additional(): Type | undefined {
    return this.kind === 'object' && this.fields.size === 0 ? this.types.any : undefined
  }
}

class GoFieldNode implements Field {
  readonly name: string
  readonly required: boolean
  readonly go: GoField
  private foundType: Type | undefined

  constructor(
    private readonly types: GoTypes,
    private readonly spec: FieldSpec,
    declaredBy: string,
    inlinedFrom: readonly string[],
    required: readonly string[] | undefined,
  ) {
    this.name = spec.name!
    this.required = required?.includes(spec.name!) ?? false
    this.go = { spec, declaredBy, inlinedFrom }
  }

  get type(): Type {
    return (this.foundType ??= this.types.parse(this.spec.type, this.spec))
  }

  get default(): Value | undefined {
    return this.spec.default
  }
}

/** The fields as JSON shows them: those of inlined types stand among the others. */
function flatten(specs: ReadonlyMap<string, TypeSpec>, name: string, inlinedFrom: readonly string[]): GoField[] {
  return (specs.get(name)?.fields ?? []).flatMap(spec => {
    if (spec.inline === true && specs.has(spec.type)) {
      return flatten(specs, spec.type, [...inlinedFrom, bareName(spec.type)])
    }
    return spec.name === undefined ? [] : [{ spec, declaredBy: name, inlinedFrom }]
  })
}

const ATOMIC_MAP: Merge = { ...NO_MERGE, map: 'atomic' }

/** Where the list type is missing, the strategy of strategic merge patches says the same. */
function listMerge({ listType, listMapKeys = [], patchStrategy = '', patchMergeKey }: FieldSpec): Merge {
  if (listType === 'map') return { ...NO_MERGE, list: 'map', keys: listMapKeys }
  if (listType === 'set') return { ...NO_MERGE, list: 'set' }
  if (listType === undefined && patchStrategy.split(',').includes('merge')) {
    return patchMergeKey === undefined
      ? { ...NO_MERGE, list: 'set' }
      : { ...NO_MERGE, list: 'map', keys: [patchMergeKey] }
  }
  return NO_MERGE
}
