// A resource type as one immutable value: everything that the rooms above need to know of it. A built-in kind makes
// one from tables, a CustomResourceDefinition makes one from its spec, and no verb asks which of them it has.

import type { Awaitable } from '../base/awaitable.js'
import type { Cancellation } from '../base/cancellation.js'
import type { CborMarks } from '../codec/cbor.js'
import type { FieldError } from '../meta/errors/field-errors.js'
import type { StatusError } from '../meta/errors/status.js'
import type { ApiObject } from '../meta/object/api-object.js'
import type { SupportField } from '../meta/selectors/field-selectors.js'
import type { Value, ValueObject } from '../meta/values/value.js'
import type { Type } from '../types/type.js'
import type { ProtobufCodec } from '../types/typed-body.js'

export interface Kind {
  readonly group: string
  readonly names: KindNames
  readonly namespaced: boolean
  /** In order of priority, the preferred one first. */
  readonly versions: readonly KindVersion[]
  /** The version in which objects are stored from now on. */
  readonly storageVersion: string
  /** The same with its group, which is another one where two groups serve the same objects. */
  readonly storedAs: string
  /** The revision at which it came to be, where that is known: nothing can be watched from before. */
  readonly since?: number | undefined
  /** Where its objects are kept: a folder of the store, such as `/configmaps/` or `/example.com/widgets/`. */
  readonly keyPrefix: string
  /** The verbs that discovery lists and requests may use, in discovery's order. */
  readonly verbs: readonly string[]
  readonly traits: Traits
  /** Where objects get what no two of them may have, for kinds that have such things. */
  readonly allocation?: Allocation | undefined
  /** An object, of the apiVersion that it names, as another apiVersion has it. The object is left as it was. */
  convert(object: ApiObject, to: string, cancellation?: Cancellation): Awaitable<ApiObject>
  /** Many at once, for kinds where that is less work than one after the other. */
  readonly convertAll?: ConvertAll | undefined
}

/** `cancellation` stops a conversion by a webhook. */
export type ConvertAll = (
  objects: readonly ApiObject[],
  to: string,
  cancellation?: Cancellation,
) => Awaitable<readonly ApiObject[]>

export interface KindNames {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
}

/** Habits in which kinds differ for historical reasons, and which clients can see. */
export interface Traits {
  /** Items of a list carry kind and apiVersion. */
  readonly listItemsHaveTypeMeta: boolean
  /** Members of metadata, and of what is shown, come in the order of their names, not in that of the type. */
  readonly sortedKeys: boolean
  /** A PUT without a resourceVersion overwrites whatever is there. */
  readonly allowUnconditionalUpdate: boolean
  /** A PUT creates what is not there. */
  readonly allowCreateOnUpdate: boolean
  /** Every method is known on every path of the resource, so that what is missing is a bad request, not a 405. */
  readonly lenientRouting: boolean
  /** A delete that removes the object returns the object; otherwise a Status. */
  readonly returnsDeletedObject: boolean
  /** It is marked as on its way out before it goes, and its preconditions are checked then, in words of their own. */
  readonly hasTerminatingPhase: boolean
  /** A Table of no objects has null in place of its rows. */
  readonly nullEmptyRows?: boolean
  /** A delete that does not say what is to become of dependents leaves them behind, with this warning if it has one. */
  readonly defaultPropagation?: { readonly warning?: string } | undefined
}

export interface KindVersion {
  readonly name: string
  readonly served: boolean
  /** Requests in a deprecated version are answered with this warning. */
  readonly deprecationWarning?: string | undefined
  readonly strategy: Strategy
  readonly subresources: Subresources
  /** What its objects are, for built-in kinds. */
  readonly type?: Type | undefined
  /** How objects look as protobuf, for kinds that have it. */
  readonly protobuf?: ProtobufCodec | undefined
  /** What OpenAPI tells of its objects, for kinds that the table of built-in types does not describe. */
  readonly openapi?: PublishedSchema | undefined
  readonly columns: readonly Column[]
  /** The cells of an object's row, one for each column. */
  tableRow(object: ApiObject, now: number): Value[]
  /** What else a Table tells of an object's row, for kinds that have more to say. */
  readonly rowConditions?: ((object: ApiObject) => readonly ValueObject[]) | undefined
  /** Which fields a field selector may ask for. */
  readonly supportField: SupportField
  /** The value of each such field, apart from `metadata.name` and `metadata.namespace`. */
  fields(object: ApiObject): Record<string, string>
  /** What an object that may have been stored under earlier rules is under the present ones. May change it. */
  readonly upgradeStored?: ((object: ApiObject) => ApiObject) | undefined
}

/**
 * What one version makes of objects. None of these functions knows of storage or of who is asking. Those that give an
 * object back may have changed the one they got.
 */
export interface Strategy {
  /**
   * Takes a decoded body in: what does not belong there is dropped and named in `strict`, along with the duplicates,
   * in the words and the order in which clients are told; what cannot be understood is refused with a StatusError.
   * `cbor` tells what the body was beyond its value, if it was CBOR that was read for a known type.
   */
  decode(body: Value, duplicates: readonly string[], cbor?: CborMarks): DecodedObject
  /** Fills in what was left out. */
  applyDefaults(object: ApiObject): ApiObject
  /** What creation sets and clears, whatever the client says. */
  prepareForCreate(object: ApiObject, now: number): ApiObject
  /** What an update keeps of the old object, or counts up. */
  prepareForUpdate(object: ApiObject, old: ApiObject, now: number): ApiObject
  validate(object: ApiObject): readonly FieldError[]
  /** What is wrong with an update. What is forgiven for having been wrong before may be told in the warnings. */
  validateUpdate(object: ApiObject, old: ApiObject, warnings: string[]): readonly FieldError[]
  /** How many seconds an object that is to go is given to come to its end, for kinds whose objects run somewhere. */
  readonly gracePeriod?: ((object: ApiObject, requested: number | undefined) => number) | undefined
  /** Whether something still keeps an object that is to go: its finalizers, the time it was given, or for some kinds more. */
  blocksDeletion(object: ApiObject): boolean
  /** What else changes on an object when it is asked to go but is held. */
  prepareForDelete(object: ApiObject): ApiObject
  /** Advice to the client that is no fault. */
  warnings(object: ApiObject, old: ApiObject | undefined): readonly string[]
}

export interface DecodedObject {
  readonly object: ApiObject
  readonly strict: readonly string[]
  /** Thrown once the strict errors are reported: the object is of another version than the request. */
  readonly refused?: StatusError | undefined
}

/** A stock that is shared by all objects of a kind, such as the addresses of services. */
export interface Allocation {
  /** Fills in what an object lacks, before it is validated. A dry run takes nothing. */
  allocate(object: ApiObject, old: ApiObject | undefined, dryRun: boolean): Promise<Allocated>
  /** The object is gone: what it had is free. */
  release(object: ApiObject): Promise<void>
}

export interface Allocated {
  /** What cannot be had; nothing was taken then. */
  readonly errors: readonly FieldError[]
  /** The object is stored: what only the one before it had is free. */
  commit(): Promise<void>
  /** The object is not stored: what was taken for it is free. */
  rollback(): Promise<void>
}

export interface Subresources {
  readonly status?: SubresourceStrategy | undefined
  readonly scale?: ScaleStrategy | undefined
  /**
   * Further paths of an object's own under which the object itself is read and written, by other rules: letting go of what
   * holds it (`finalize`), consenting to what it asks for (`approval`), changing its size (`resize`).
   */
  readonly parts?: Readonly<Record<string, SubresourceStrategy>> | undefined
}

/** How a write to a part of the object, such as `/status`, differs from a write to the object. */
export interface SubresourceStrategy {
  /** The verbs that it takes, where that is not all of `PART_VERBS`. */
  readonly verbs?: readonly string[] | undefined
  prepareForUpdate(object: ApiObject, old: ApiObject, now: number): ApiObject
  validateUpdate(object: ApiObject, old: ApiObject, warnings: string[]): readonly FieldError[]
  /** Fields that a write through this endpoint cannot change and so does not own, as paths: `metadata.labels`. */
  readonly resetFields?: readonly string[] | undefined
}

/** How an `autoscaling/v1` Scale is read from an object and written to it. */
export interface ScaleStrategy {
  /** Where the object says how many there are to be: `spec`, `replicas`. */
  readonly replicasPath: readonly string[]
  read(object: ApiObject): ApiObject
  /** What is wrong with a Scale in itself, whatever it is the scale of. */
  validate(scale: ApiObject): readonly FieldError[]
  write(object: ApiObject, scale: ApiObject): ApiObject
  /** Why a Scale that is applied cannot change the object, for kinds that know only how to update it. */
  readonly unappliable?: string | undefined
}

export interface PublishedSchema {
  /** The structural schema as its definition has it; absent where there is none, or none that can be published. */
  readonly schema?: ValueObject | undefined
  /** The same as JSON, if that is at hand while the schema would have to be read from it. */
  readonly written?: Uint8Array | undefined
  /** The fields that selectors may ask for, as paths: `.spec.color`. */
  readonly selectableFields?: readonly string[] | undefined
}

/** A column of a Table. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  /** 0 is always shown; more only in wide views. */
  readonly priority: number
}

/** A kind in the version that the request speaks. */
export interface VersionedKind {
  readonly kind: Kind
  readonly version: KindVersion
}
