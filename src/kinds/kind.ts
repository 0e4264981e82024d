// A resource type as one immutable value: everything that upper layers need to know about it. Built-in kinds create it
// from tables, a CustomResourceDefinition creates it from its spec, and the verbs treat both alike.

import type { Awaitable } from '../base/awaitable.js'
import type { Cancellation } from '../base/cancellation.js'
import type { CborMarks } from '../codec/cbor.js'
import type { FieldError } from '../meta/errors/field-errors.js'
import type { StatusError } from '../meta/errors/status.js'
import type { ApiObject } from '../meta/object/api-object.js'
import type { SupportField } from '../meta/selectors/field-selectors.js'
import type { Value, ValueObject } from '../meta/values/value.js'
import type { Type } from '../types/type.js'

export interface Kind {
  /** Whether it comes with the server or from a CustomResourceDefinition. Only documents about kinds look at it. */
  readonly origin: 'builtin' | 'custom'
  readonly group: string
  readonly names: KindNames
  readonly namespaced: boolean
  /** In order of priority, the preferred one first. */
  readonly versions: readonly KindVersion[]
  /** The version in which objects are written to storage. */
  readonly storageVersion: string
  /** The group and version of storage. The group differs from `group` if two groups serve the same objects. */
  readonly storedAs: string
  /** Groups and versions of other kinds that serve the same objects: `events.k8s.io/v1`. */
  readonly alsoServedAs?: readonly string[] | undefined
  /** The revision at which the kind was created, if known: watches cannot start before it. */
  readonly since?: number | undefined
  /**
   * An entry of the store that objects are checked by: the definition of the kind. Objects are written only while it is
   * at this revision. The revision moves on when the definition changes in nothing that concerns the objects.
   */
  readonly guard?: Readonly<KindGuard> | undefined
  /** Its objects are not stored but found out for each request, in the order of their names. */
  readonly computed?: ComputedObjects | undefined
  /** The key prefix of its objects in the store, such as `/configmaps/` or `/example.com/widgets/`. */
  readonly keyPrefix: string
  /** The verbs that discovery lists and requests may use, in discovery's order. */
  readonly verbs: readonly string[]
  readonly traits: Traits
  /** Allocates values that must be unique among all objects, such as cluster IPs. */
  readonly allocation?: Allocation | undefined
  /** Converts an object from its apiVersion to another one. The argument is not changed. */
  convert(object: ApiObject, to: string, cancellation?: Cancellation): Awaitable<ApiObject>
  /** The same for admission, where the result is not pruned. Only for kinds whose `convert` prunes. */
  convertUnpruned?(object: ApiObject, to: string, cancellation?: Cancellation): Awaitable<ApiObject>
  /** A webhook or a function converts its versions: it may wait, and need not give the same result each time. */
  readonly hasExternalConversion?: boolean | undefined
  /** Converts many objects together, for kinds where that costs less than one by one. */
  readonly convertAll?: ConvertAll | undefined
}

export interface ComputedObjects {
  /** In the only version of the kind. */
  list(): Promise<readonly ApiObject[]>
  /** Undefined if there is no object of this name. */
  get(name: string): Promise<ApiObject | undefined>
}

export interface KindGuard {
  readonly key: string
  revision: number
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

/** Differences between resources that clients can observe, kept for compatibility. */
export interface Traits {
  /** Items of a list have kind and apiVersion. */
  readonly listItemsHaveTypeMeta: boolean
  /** The members of metadata, and of responses, are sorted by name instead of in the order of the type. */
  readonly sortedKeys: boolean
  /** A PUT without a resourceVersion overwrites the stored object. */
  readonly allowUnconditionalUpdate: boolean
  /** A PUT creates the object if it does not exist. */
  readonly allowCreateOnUpdate: boolean
  /** An apply to the status creates the object, too, although a PUT does not. */
  readonly appliedStatusCreates?: boolean | undefined
  /** Every method is routed on every path of the resource, so a missing one is a bad request instead of a 405. */
  readonly lenientRouting: boolean
  /** A delete that removes the object returns the object; otherwise a Status. */
  readonly returnsDeletedObject: boolean
  /**
   * An object is marked as Terminating before it is removed, without a grace period or a new generation; preconditions are
   * checked then, with other messages.
   */
  readonly hasTerminatingPhase: boolean
  /** Strategic merge patches are accepted: they need lists whose merge keys are declared in Go. */
  readonly strategicMerge: boolean
  /** A Table without objects has null instead of an empty list of rows. */
  readonly nullEmptyRows?: boolean
  /** A status is not shown as a Table. */
  readonly subresourcesWithoutTable?: readonly string[] | undefined
  /** Lists that require one value of this field know whether others of that value follow a page. */
  readonly pagedByField?: string | undefined
  /** A delete without a propagation policy orphans the dependents, with this warning if there is one. */
  readonly defaultPropagation?: { readonly warning?: string } | undefined
  /** The propagation policy of a delete is ignored: nothing depends on such objects. */
  readonly ignoresPropagation?: boolean | undefined
}

export interface KindVersion {
  readonly name: string
  readonly served: boolean
  /** The warning that is added to responses in a deprecated version. */
  readonly deprecationWarning?: string | undefined
  readonly strategy: Strategy
  readonly subresources: Subresources
  /** What its objects are. */
  readonly type: Type
  /** The fields that its definition makes selectable, as paths: `.spec.color`. OpenAPI publishes them. */
  readonly selectableFields?: readonly string[] | undefined
  readonly columns: readonly Column[]
  /** The cells of an object's row in a Table, one for each column. */
  tableRow(object: ApiObject, now: number): Value[]
  /** The conditions of an object's row in a Table, for kinds that have them. */
  readonly rowConditions?: ((object: ApiObject) => readonly ValueObject[]) | undefined
  /** Which fields a field selector may use. */
  readonly supportField: SupportField
  /** The value of each such field, apart from `metadata.name` and `metadata.namespace`. */
  fields(object: ApiObject): Record<string, string>
  /**
   * Brings an object that was stored under earlier rules up to date. May change its argument. `isMetaDecoded`: its metadata are
   * as decoding them gives.
   */
  readonly upgradeStored?: ((object: ApiObject, isMetaDecoded?: boolean) => UpgradedObject) | undefined
}

export interface UpgradedObject {
  readonly object: ApiObject
  /** False if the object was up to date, so that it is what is stored. */
  readonly changed: boolean
}

/** What a strategy may know of the request that creates an object. */
export interface CreatingRequest {
  /** Adds a warning to the response, also if the object is refused. */
  readonly warn?: (text: string) => void
  /** The subresource that a PUT or apply writes to, if that creates the object. */
  readonly subresource?: string
}

/**
 * The rules of one version. These functions do not know storage or the user. Those that return an object may have
 * changed their argument.
 */
export interface Strategy {
  /**
   * Decodes a body: unknown fields are dropped and added to `strict`, together with the duplicates, with the messages
   * and in the order in which clients receive them. A body that cannot be decoded is refused with a StatusError.
   * `cbor` has details of the encoding, if the body was CBOR decoded for a known type. `decodedMeta` are metadata that have
   * been decoded before: if they are those of the body, they need not be decoded again.
   */
  decode(body: Value, duplicates: readonly string[], cbor?: CborMarks, decodedMeta?: ValueObject): DecodedObject
  /**
   * Sets default values. `isDecoded`: the object is as `decode` returned it, but for its metadata. `now` is the time of a
   * write; without one it is that of the machine.
   */
  applyDefaults(object: ApiObject, isDecoded?: boolean, now?: number): ApiObject
  /** The same in steps, of which none takes long. */
  readonly applyDefaultsInSteps?: (object: ApiObject, isDecoded: boolean, now: number) => Iterator<unknown, ApiObject>
  /** Sets and clears fields on creation that clients cannot choose. */
  prepareForCreate(object: ApiObject, now: number, request?: CreatingRequest): ApiObject
  /** Keeps fields of the old object that an update cannot change, and increments the generation. */
  prepareForUpdate(object: ApiObject, old: ApiObject, now: number): ApiObject
  /** Work of `validate` and `validateUpdate` that may take long, in pieces. They find its results. */
  readonly prepareValidation?: ((object: ApiObject) => Iterator<unknown, void>) | undefined
  /** The errors of a new object. Warnings that validation finds are added to `warnings`. */
  validate(object: ApiObject, warnings: string[]): readonly FieldError[]
  /** The errors of an update. Errors that are tolerated because the value is unchanged may be added to the warnings. */
  validateUpdate(object: ApiObject, old: ApiObject, warnings: string[], now: number): readonly FieldError[]
  /** The grace period of a deletion in seconds, for kinds with graceful deletion, such as Pods. */
  readonly gracePeriod?: ((object: ApiObject, requested: number | undefined) => number) | undefined
  /** Whether an object that is being deleted must be kept: by finalizers, the grace period, or rules of the kind. */
  blocksDeletion(object: ApiObject): boolean
  /** Whether that depends on finalizers alone, and there is no grace period: objects without any are removed at once. */
  readonly isBlockedByFinalizersOnly?: boolean | undefined
  /** Further changes to an object when its deletion begins but is blocked. */
  prepareForDelete(object: ApiObject): ApiObject
  /** Warnings for the client that are not errors. */
  warnings(object: ApiObject, old: ApiObject | undefined): readonly string[]
}

export interface DecodedObject {
  readonly object: ApiObject
  readonly strict: readonly string[]
  /** Thrown once the strict errors are reported: the object is of another version than the request. */
  readonly refused?: StatusError | undefined
}

/** An allocator of values that are unique among the objects of a kind, such as the addresses of services. */
export interface Allocation {
  /** Allocates the missing values of an object, before it is validated. A dry run reserves nothing. */
  allocate(object: ApiObject, old: ApiObject | undefined, dryRun: boolean): Promise<Allocated>
  /** The object was deleted: its values are free. */
  release(object: ApiObject): Promise<void>
}

export interface Allocated {
  /** The allocations that failed; nothing is reserved then. */
  readonly errors: readonly FieldError[]
  /** The object was stored: values that only the old object had are free. */
  commit(): Promise<void>
  /** The object was not stored: the values allocated for it are free. */
  rollback(): Promise<void>
}

export interface Subresources {
  readonly status?: SubresourceStrategy | undefined
  /** A manager that sends a status with the object owns it, although only `/status` changes it. */
  readonly statusIsOwnedWithObject?: boolean | undefined
  readonly scale?: ScaleStrategy | undefined
  /**
   * Further subresources under which the object itself is read and written with another strategy: removing namespace
   * finalizers (`finalize`), approving a certificate request (`approval`), changing a pod's resources (`resize`).
   */
  readonly parts?: Readonly<Record<string, SubresourceStrategy>> | undefined
}

/** How a write to a subresource, such as `/status`, differs from a write to the object. */
export interface SubresourceStrategy {
  /** Its verbs, if not all of `SUBRESOURCE_VERBS`. */
  readonly verbs?: readonly string[] | undefined
  prepareForUpdate(object: ApiObject, old: ApiObject, now: number): ApiObject
  validateUpdate(object: ApiObject, old: ApiObject, warnings: string[], now: number): readonly FieldError[]
  /** What is accepted with a warning. Without it there are no warnings. */
  readonly warnings?: ((object: ApiObject, old: ApiObject) => readonly string[]) | undefined
  /** Fields that a write through this endpoint cannot change and so does not own, as paths: `metadata.labels`. */
  readonly resetFields?: readonly string[] | undefined
}

/** How an `autoscaling/v1` Scale is read from an object and written to it. */
export interface ScaleStrategy {
  /** The path of the desired number of replicas: `spec`, `replicas`. */
  readonly replicasPath: readonly string[]
  read(object: ApiObject): ApiObject
  /** The scale that a write changes: unlike one that is read, it may be that of an object without the field. */
  readForUpdate?(object: ApiObject): ApiObject
  /** The errors of a Scale that do not depend on the scaled object. */
  validate(scale: ApiObject): readonly FieldError[]
  write(object: ApiObject, scale: ApiObject): ApiObject
  /** Why a Scale cannot be applied with server-side apply, for kinds that only support updating it. */
  readonly unappliable?: string | undefined
  /** The error of every Scale that cannot be decoded, where kube-apiserver does not say what is wrong with it. */
  readonly undecodable?: string | undefined
  /** Whether a patch that names another uid is a conflict. Else the uid in a patch is ignored. */
  readonly checksUid?: boolean | undefined
}

/** A column of a Table. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  /** 0 is always shown; higher ones only in wide output. */
  readonly priority: number
}

/** A kind in the version of a request. */
export interface VersionedKind {
  readonly kind: Kind
  readonly version: KindVersion
}
