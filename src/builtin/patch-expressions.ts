// The values by which expressions of mutating policies say what to change: `Object{spec: Object.spec{…}}` and
// `JSONPatch{op: "add", …}`. Fields of an Object have no declared types; that its names fit is checked afterwards.

import {
  CelError,
  type CelType,
  type FunctionDeclaration,
  type ObjectTypes,
  ObjectValue,
  types,
  type Value,
} from '../cel/index.js'

const { DYN, STRING, listOf, objectType } = types

export const PATCH_OBJECT: CelType = objectType('Object')
const JSON_PATCH: CelType = objectType('JSONPatch')
export const JSON_PATCHES: CelType = listOf(JSON_PATCH)

const OPERATION_FIELDS: Readonly<Record<string, CelType>> = { op: STRING, path: STRING, from: STRING, value: DYN }

/** A value that an expression has made of fields. */
abstract class MadeObject extends ObjectValue {
  constructor(
    readonly type: CelType,
    readonly fields: ReadonlyMap<string, Value>,
  ) {
    super()
  }

  get(field: string): Value | undefined {
    return this.fields.get(field)
  }

  equals(other: Value): boolean {
    return this === other
  }

  override isZero(): boolean {
    return this.fields.size === 0
  }
}

/** `Object{…}`, or a part of one, `Object.spec{…}`. */
export class PatchObject extends MadeObject {}

/** `JSONPatch{…}`: one operation. */
export class PatchOperation extends MadeObject {}

const isPatchObject = (name: string): boolean => name === PATCH_OBJECT.name || name.startsWith(`${PATCH_OBJECT.name}.`)

export const PATCH_OBJECT_TYPES: ObjectTypes = {
  has: name => name === JSON_PATCH.name || isPatchObject(name),
  field(type, field) {
    if (type !== JSON_PATCH.name) return isPatchObject(type) ? DYN : undefined
    // A field that there is not has a type without a name, which the message about it shows.
    return Object.hasOwn(OPERATION_FIELDS, field) ? OPERATION_FIELDS[field] : objectType('')
  },
  create(type, fields) {
    if (type !== JSON_PATCH.name) return new PatchObject(objectType(type), fields)
    const wrong = ['op', 'path', 'from'].find(name => typeof (fields.get(name) ?? '') !== 'string')
    return wrong === undefined
      ? new PatchOperation(JSON_PATCH, fields)
      : new CelError(`unexpected type for JSONPatchType '${wrong}' field`)
  },
}

/** `jsonpatch.escapeKey(key)`: a key as a part of a path. */
export const ESCAPE_KEY: FunctionDeclaration = {
  name: 'jsonpatch.escapeKey',
  overloads: [
    {
      id: 'string_jsonpatch_escapeKey_string',
      params: [STRING],
      result: STRING,
      call: key => (key as string).replaceAll('~', '~0').replaceAll('/', '~1'),
    },
  ],
}
