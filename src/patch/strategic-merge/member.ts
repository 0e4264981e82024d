// How a strategic merge patch changes one member of an object, by the type of the object; and the errors for members
// that the type does not have.
import { bareName, type Field, type Type } from '../../types/type.js'
import { unclassified } from '../patch-error.js'

export interface Member {
  /** Of the member; of its items, if it is a list. */
  readonly type: Type
  /** How a patch changes a value that is there already; undefined for the usual way of its type. */
  readonly strategy: string | undefined
  /** The field that identifies the items of a merged list; empty for lists of scalars. */
  readonly mergeKey: string
}

/** For a member whose value is an object. */
export function memberOf(type: Type, key: string): Member {
  if (type.kind === 'map') return { type: type.element!, strategy: undefined, mergeKey: '' }
  return fromField(fieldOf(type, key))
}

/** For a member whose value is a list. */
export function listMemberOf(type: Type, key: string): Member {
  if (type.kind === 'map') {
    throw unclassified('merging an object in json but data type is not struct, instead is: map')
  }
  const field = fieldOf(type, key)
  const member = fromField(field)
  if (member.type.kind === 'list') {
    const element = member.type.element!
    if (element.kind === 'list') throw unclassified('unexpected slice of slice')
    return { ...member, type: element }
  }
  // The reference looks no further behind a pointer.
  if (field.go?.spec.pointer) return member
  throw unclassified(`expected slice or array type, but got: ${goKind(type)}`)
}

/** The Go kind of a type, which errors name. */
export function goKind({ kind }: Type): string {
  switch (kind) {
    case 'object':
    case 'special':
      return 'struct'
    case 'list':
    case 'bytes':
      return 'slice'
    case 'any':
      return 'interface'
    default:
      return kind
  }
}

function fieldOf(type: Type, key: string): Field {
  if (type.kind !== 'object' && type.kind !== 'special') {
    throw unclassified(`merging an object in json but data type is not struct, instead is: ${goKind(type)}`)
  }
  const field = type.fields.get(key) ?? inAnyCase(type.fields, key)
  if (field !== undefined) return field
  const struct = bareName(type.name)
  throw unclassified(`unable to find api field in struct ${struct} for the json field ${JSON.stringify(key)}`)
}

function fromField({ type, go }: Field): Member {
  const { patchStrategy = '', patchMergeKey = '' } = go!.spec
  const strategy = patchStrategy === '' ? undefined : patchStrategy.split(',').find(each => each !== 'retainKeys')
  return { type, strategy, mergeKey: patchMergeKey }
}

function inAnyCase(fields: ReadonlyMap<string, Field>, key: string): Field | undefined {
  const wanted = key.toLowerCase()
  for (const [name, field] of fields) if (name.toLowerCase() === wanted) return field
  return undefined
}
