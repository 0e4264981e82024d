// Brings a value into the shape that its schema has, in place and in one walk:
//
//   default     what is missing, or null where null is not allowed, gets the default of its schema
//   prune       fields that the schema does not name are dropped
//   drop nulls  a null that is neither allowed nor replaced by a default is dropped, except from lists
//   coerce      embedded resources: apiVersion and kind must be strings, metadata is decoded as ObjectMeta
//
// At each node the steps are done in this order. A step whose keyword stands nowhere below a node is left out there.
import { childPath, type FieldError, fieldInvalid, indexPath, keyPath } from '../../meta/errors/field-errors.js'
import { compareTexts } from '../../meta/go/go-text.js'
import {
  countCharacters,
  countValues,
  defaultsTooLong,
  MAX_DEFAULTED,
  MAX_VALUES,
  tooManyValues,
} from '../../meta/object/value-limit.js'
import {
  copyValue,
  equalValues,
  getOwn,
  isObject,
  setOwn,
  type Value,
  type ValueObject,
} from '../../meta/values/value.js'
import { decodeObjectMeta, decodeStoredObjectMeta } from '../../types/object-meta.js'
import { BELOW, type Schema } from '../structure/structural.js'

/** Which steps to take, as bits. */
export const STEP = { default: 1, prune: 2, dropNulls: 4, coerce: 8 } as const

export interface ShapeOptions {
  /** The bits of `STEP`. */
  readonly steps: number
  /** The value is a resource, whatever its schema says: its apiVersion, kind and metadata are not pruned. */
  readonly isResource?: boolean
  /** These have been decoded by the caller already, and are not coerced. */
  readonly isDecoded?: boolean
  /** Drop what cannot be coerced, as is done to what comes from storage. */
  readonly dropInvalid?: boolean
  /** The field of the value, for errors. */
  readonly at?: string
}

export interface Shaped {
  /** Whether anything was changed. */
  readonly changed: boolean
  /** The paths of fields that were pruned, sorted; then those of unknown fields of embedded metadata. */
  readonly unknown: readonly string[]
  /** The first thing that cannot be coerced. The walk ends there. */
  readonly error?: FieldError
}

export const isTypeOrMetadata = (key: string): boolean => key === 'metadata' || key === 'apiVersion' || key === 'kind'

export function shapeValue(value: Value, schema: Schema, options: ShapeOptions): Shaped {
  const run = new Run(options.dropInvalid ?? false, options.at ?? '')
  const isResource = options.isResource ?? false
  run.shape(value, schema, options.steps, {
    isResource,
    coerces: isResource && options.isDecoded !== true,
    keeps: false,
  })
  const { changed, error, pruned, unknown } = run
  const all = [...(pruned.length > 1 ? pruned.toSorted(compareTexts) : pruned), ...unknown]
  return error === undefined ? { changed, unknown: all } : { changed, unknown: all, error }
}

/** The paths of fields that the schema does not name, which are dropped in place. */
export const prune = (value: Value, schema: Schema, { isResource = false } = {}): readonly string[] =>
  shapeValue(value, schema, { steps: STEP.prune, isResource }).unknown

/** What holds for a node beside its schema. */
interface Position {
  readonly isResource: boolean
  /** It is coerced as a resource. */
  readonly coerces: boolean
  /** It is an item of a list that preserves unknown fields, and preserves them too. */
  readonly keeps: boolean
}

const PLAIN: Position = { isResource: false, coerces: false, keeps: false }
const KEPT_ITEM: Position = { ...PLAIN, keeps: true }

const TYPE_AND_METADATA = ['apiVersion', 'kind', 'metadata']

class Run {
  changed = false
  error: FieldError | undefined
  readonly pruned: string[] = []
  readonly unknown: string[] = []
  /** The first `depth` steps lead from the root to the present node. */
  private readonly path: (string | number)[] = []
  /** Which of these are keys of maps. */
  private readonly isMapKey: boolean[] = []
  private depth = 0
  /** How many values came from defaults. */
  private defaulted = 0
  private defaultedCharacters = 0

  constructor(
    private readonly dropInvalid: boolean,
    private readonly at: string,
  ) {}

  shape(value: Value, schema: Schema, requested: number, position: Position): void {
    let steps = requested
    if ((schema.below & BELOW.default) === 0) steps &= ~STEP.default
    if ((schema.below & BELOW.embeddedResource) === 0 && !position.coerces) steps &= ~STEP.coerce
    if (steps === 0) return
    if (Array.isArray(value)) this.shapeItems(value, schema, steps, position)
    else if (isObject(value)) this.shapeObject(value, schema, steps, position)
  }

  private shapeItems(list: Value[], { items, extensions }: Schema, steps: number, { keeps }: Position): void {
    const keeping = keeps || extensions.preserveUnknownFields === true
    if (items === undefined && (keeping || (steps & STEP.prune) === 0)) return
    for (let i = 0; i < list.length && this.error === undefined; i++) {
      let item = list[i]!
      if (item === null && (steps & STEP.default) !== 0 && items !== undefined && replacesNull(items)) {
        item = this.copyDefault(items.default!)
        list[i] = item
        this.changed = true
      }
      if (typeof item !== 'object' || item === null) continue
      this.enter(i, false)
      if (items === undefined) this.empty(item)
      else this.shape(item, items, steps, keeping ? KEPT_ITEM : PLAIN)
      this.leave()
    }
  }

  private shapeObject(object: ValueObject, schema: Schema, steps: number, position: Position): void {
    const { properties, additionalProperties, extensions } = schema
    const isResource = position.isResource || extensions.embeddedResource
    const coerces = (steps & STEP.coerce) !== 0 && (position.coerces || extensions.embeddedResource)
    const keeping = position.keeps || extensions.preserveUnknownFields === true
    if ((steps & STEP.default) !== 0) this.setDefaults(object, properties)
    if (isResource) {
      // They are in no schema's power but for nulls and defaults; the metadata are decoded with these.
      const rest = steps & ~(STEP.prune | (coerces ? STEP.coerce : 0))
      for (const key of TYPE_AND_METADATA) {
        const below = properties.get(key) ?? additionalProperties
        if (below !== undefined && Object.hasOwn(object, key)) {
          this.shapeMember(object, key, below, below === additionalProperties, rest)
        }
      }
      if (coerces) this.coerce(object)
    }
    for (const key of Object.keys(object)) {
      if (this.error !== undefined) return
      if (isResource && isTypeOrMetadata(key)) continue
      const property = properties.get(key)
      const below = property ?? additionalProperties
      if (below !== undefined) {
        if (typeof object[key] === 'object') this.shapeMember(object, key, below, property === undefined, steps)
      } else if ((steps & STEP.prune) !== 0 && !keeping) this.drop(object, key)
    }
  }

  /** Not in the order of the schema but of the object: members that were missing come last. */
  private setDefaults(object: ValueObject, properties: ReadonlyMap<string, Schema>): void {
    for (const [key, property] of properties) {
      if (property.default === undefined) continue
      if (Object.hasOwn(object, key) && !(object[key] === null && !property.nullable)) continue
      setOwn(object, key, this.copyDefault(property.default))
      this.changed = true
    }
  }

  private shapeMember(
    object: ValueObject,
    key: string,
    below: Schema | boolean,
    isMapKey: boolean,
    steps: number,
  ): void {
    let member = object[key] as Value
    if (member === null && typeof below === 'object') member = this.replaceNull(object, key, below, steps)
    if (typeof member !== 'object' || member === null) return
    this.enter(key, isMapKey)
    if (typeof below === 'object') this.shape(member, below, steps, PLAIN)
    else if ((steps & STEP.prune) !== 0) this.empty(member)
    this.leave()
  }

  private replaceNull(object: ValueObject, key: string, schema: Schema, steps: number): Value {
    if (schema.nullable) return null
    if (schema.default === undefined) {
      if ((steps & STEP.dropNulls) === 0) return null
      delete object[key]
    } else {
      if ((steps & STEP.default) === 0) return null
      setOwn(object, key, this.copyDefault(schema.default))
    }
    this.changed = true
    return getOwn(object, key) ?? null
  }

  /** An item of a list may have a default of any size, so that a short body could become a very large object. */
  private copyDefault<T extends Value>(value: T): T {
    this.defaulted += 1 + (typeof value === 'object' ? countValues(value) : 0)
    if (this.defaulted > MAX_VALUES) throw tooManyValues()
    this.defaultedCharacters += countCharacters(value)
    if (this.defaultedCharacters > MAX_DEFAULTED) throw defaultsTooLong()
    return copyValue(value)
  }

  private coerce(object: ValueObject): void {
    for (const key of ['apiVersion', 'kind']) {
      if (!Object.hasOwn(object, key) || typeof object[key] === 'string') continue
      if (!this.dropInvalid) {
        this.error = fieldInvalid(childPath(this.field(), key), object[key], 'must be a string')
        return
      }
      delete object[key]
      this.changed = true
    }
    if (!Object.hasOwn(object, 'metadata')) return
    const metadata = object['metadata']!
    const decoded = this.dropInvalid ? decodeStoredObjectMeta(metadata) : decodeObjectMeta(metadata)
    if (!decoded.ok) {
      this.error = fieldInvalid(childPath(this.field(), 'metadata'), metadata, decoded.error)
      return
    }
    const { value, unknown } = decoded.value
    if (!equalValues(metadata, value)) this.changed = true
    setOwn(object, 'metadata', value)
    for (const name of unknown) this.unknown.push(childPath(this.name(), name))
  }

  // ---- what is pruned

  private drop(object: ValueObject, key: string): void {
    this.pruned.push(childPath(this.name(), key))
    delete object[key]
    this.changed = true
  }

  /** A value that no schema describes: lists keep their items, objects lose their members. May be of any depth. */
  private empty(root: Value): void {
    const open: [Value, string][] = [[root, this.name()]]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [value, path] = next
      if (Array.isArray(value)) {
        for (const [i, item] of value.entries()) {
          if (typeof item === 'object' && item !== null) open.push([item, indexPath(path, i)])
        }
      } else if (isObject(value)) {
        for (const key of Object.keys(value)) {
          this.pruned.push(`${path}.${key}`)
          delete value[key]
          this.changed = true
        }
      }
    }
  }

  // ---- paths, which are written only where something is reported

  private enter(step: string | number, isMapKey: boolean): void {
    this.path[this.depth] = step
    this.isMapKey[this.depth] = isMapKey
    this.depth++
  }

  private leave(): void {
    this.depth--
  }

  /** As clients are warned of unknown fields: `spec.map.key`. */
  private name(): string {
    let path = this.at
    for (const step of this.path.slice(0, this.depth)) {
      path = typeof step === 'number' ? indexPath(path, step) : childPath(path, step)
    }
    return path
  }

  /** As errors name fields: `spec.map[key]`. */
  private field(): string {
    let path = this.at
    for (const [i, step] of this.path.slice(0, this.depth).entries()) {
      if (typeof step === 'number') path = indexPath(path, step)
      else path = this.isMapKey[i] === true ? keyPath(path, step) : childPath(path, step)
    }
    return path
  }
}

const replacesNull = (schema: Schema): boolean => !schema.nullable && schema.default !== undefined
