// What strategic merge must know of a type: which fields it has, and for lists whether patches merge into them and by
// which key. Facts only: the same table of types that describes the built-in kinds.

export type PatchStrategy = 'merge' | 'replace' | 'retainKeys'

export type PatchSchema =
  | { readonly kind: 'struct'; readonly name: string; readonly fields: ReadonlyMap<string, PatchField> }
  | { readonly kind: 'map' | 'list'; readonly element: () => PatchSchema }
  /** A scalar, by the name of its Go kind. */
  | { readonly kind: 'scalar'; readonly name: string }

export interface PatchField {
  readonly schema: () => PatchSchema
  readonly pointer: boolean
  readonly strategies: readonly PatchStrategy[]
  /** The member by which the items of a merged list are told apart; empty for lists of scalars. */
  readonly mergeKey: string
}

/** The part of a type's facts that matters here. */
export interface TypeFacts {
  readonly fields: readonly FieldFacts[]
}

export interface FieldFacts {
  /** Absent where the field is inlined. */
  readonly name?: string
  /** `string`, `[]core/v1.Container`, `{string}bytes` or the name of a type. */
  readonly type: string
  readonly inline?: boolean
  readonly pointer?: boolean
  /** Joined by commas. */
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
}

export type Types = Readonly<Record<string, TypeFacts>>

/** The schema of a type in a table of types. Each type is looked into once, when a patch first reaches it. */
export function schemaFromTypes(types: Types, typeName: string): PatchSchema {
  let known = schemasOf.get(types)
  if (known === undefined) schemasOf.set(types, (known = new Map()))
  let schema = known.get(typeName)
  if (schema === undefined) known.set(typeName, (schema = build(types, typeName)))
  return schema
}

const schemasOf = new WeakMap<Types, Map<string, PatchSchema>>()

function build(types: Types, typeName: string): PatchSchema {
  if (typeName.startsWith('[]')) {
    return { kind: 'list', element: () => schemaFromTypes(types, typeName.slice(2)) }
  }
  if (typeName.startsWith('{')) {
    return { kind: 'map', element: () => schemaFromTypes(types, typeName.slice(typeName.indexOf('}') + 1)) }
  }
  const facts = Object.hasOwn(types, typeName) ? types[typeName] : undefined
  if (facts === undefined) return { kind: 'scalar', name: typeName === 'bytes' ? 'slice' : typeName }
  return { kind: 'struct', name: typeName.slice(typeName.lastIndexOf('.') + 1), fields: fieldsOf(types, facts) }
}

function fieldsOf(types: Types, facts: TypeFacts): Map<string, PatchField> {
  const fields = new Map<string, PatchField>()
  for (const { name, type, pointer = false, patchStrategy = '', patchMergeKey = '' } of facts.fields) {
    if (name !== undefined && name !== '') {
      fields.set(name, {
        schema: () => schemaFromTypes(types, type),
        pointer,
        strategies: patchStrategy === '' ? [] : (patchStrategy.split(',') as PatchStrategy[]),
        mergeKey: patchMergeKey,
      })
      continue
    }
    const inlined = schemaFromTypes(types, type)
    // A field of its own hides an inlined one of the same name.
    if (inlined.kind === 'struct')
      for (const [key, field] of inlined.fields) if (!fields.has(key)) fields.set(key, field)
  }
  return fields
}
