// Finding what a schema says of a member, and the words for where it says nothing.
import { unclassified } from '../patch-error.js'
import type { PatchField, PatchSchema } from './schema.js'

export interface MemberFacts {
  readonly schema: PatchSchema
  /** What a patch does to a member that is there already, if not what is usual for its type. */
  readonly strategy: 'merge' | 'replace' | undefined
  readonly mergeKey: string
}

/** For a member whose value is an object. */
export function lookUp(schema: PatchSchema, key: string): MemberFacts {
  const { pointer: _, ...facts } = memberOf(schema, key)
  return facts
}

/** For a member whose value is a list: `schema` is that of its items. */
export function lookUpList(schema: PatchSchema, key: string): MemberFacts {
  const { pointer, ...facts } = memberOf(schema, key)
  if (facts.schema.kind === 'list') {
    const element = facts.schema.element()
    if (element.kind === 'list') throw unclassified('unexpected slice of slice')
    return { ...facts, schema: element }
  }
  // The reference looks no further behind a pointer.
  if (pointer) return facts
  throw unclassified(`expected slice or array type, but got: ${goKind(schema)}`)
}

/** The Go kind of a type, which errors name. */
export const goKind = (schema: PatchSchema): string => {
  if (schema.kind === 'scalar') return schema.name
  return schema.kind === 'list' ? 'slice' : schema.kind
}

function memberOf(schema: PatchSchema, key: string): MemberFacts & { pointer: boolean } {
  if (schema.kind === 'map') return { schema: schema.element(), strategy: undefined, mergeKey: '', pointer: false }
  if (schema.kind !== 'struct') {
    throw unclassified(`merging an object in json but data type is not struct, instead is: ${goKind(schema)}`)
  }
  const field = schema.fields.get(key) ?? inAnyCase(schema.fields, key)
  if (field === undefined) {
    throw unclassified(`unable to find api field in struct ${schema.name} for the json field ${JSON.stringify(key)}`)
  }
  return {
    schema: field.schema(),
    strategy: field.strategies.find(strategy => strategy !== 'retainKeys'),
    mergeKey: field.mergeKey,
    pointer: field.pointer,
  }
}

function inAnyCase(fields: ReadonlyMap<string, PatchField>, key: string): PatchField | undefined {
  const wanted = key.toLowerCase()
  for (const [name, field] of fields) if (name.toLowerCase() === wanted) return field
  return undefined
}
