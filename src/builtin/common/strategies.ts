// What a strategy of a built-in kind is, and the steps that strategies are made of: keeping, clearing and counting.
import type { Traits } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { ensureObject, keepFrom, numberAt, objectAt } from '../../meta/values/access.js'
import { hasGivenEmpty } from '../../meta/values/given-empty.js'
import { copyValue, equalValues, getOwn, type ValueObject } from '../../meta/values/value.js'
import { zeroOf } from '../../types/decode.js'
import type { TypeTable } from '../../types/type-table.js'

export interface WriteContext {
  /** The time of the write, printed as a Time. */
  readonly now: string
  /** Adds a warning to the response to a create, also if the object is refused. */
  readonly warn?: (text: string) => void
  /** The subresource that a PUT or apply writes to, if that creates the object. */
  readonly subresource?: string | undefined
}

export type PrepareForCreate = (object: ValueObject, context: WriteContext) => void
export type PrepareForUpdate = (object: ValueObject, old: ValueObject, context: WriteContext) => void

export interface BuiltinStrategy {
  readonly prepareForCreate?: PrepareForCreate
  readonly prepareForUpdate?: PrepareForUpdate
  /** A write to `/status`. */
  readonly prepareForStatusUpdate?: PrepareForUpdate
  /** A write to another subresource that writes the object, by the name of the subresource. */
  readonly prepareForSubresourceUpdate?: Readonly<Record<string, PrepareForUpdate>>
  /** Runs after the other steps, when the name is final (`generateName` is resolved). */
  readonly finish?: (object: ValueObject) => void
  /** A PUT creates the object if it does not exist. */
  readonly allowCreateOnUpdate?: boolean
  /** An apply to the status creates the object, too, although a PUT does not. */
  readonly appliedStatusCreates?: boolean
  /** False: a PUT must name the resourceVersion that it replaces. */
  readonly allowUnconditionalUpdate?: boolean
  /** A delete returns the object instead of a Status. */
  readonly returnsDeletedObject?: boolean
  readonly subresourcesWithoutTable?: readonly string[]
  readonly pagedByField?: string
  /** The grace period of a deletion in seconds. */
  readonly gracePeriod?: (object: ValueObject, requested: number | undefined) => number
  /** Conditions of the object's row in a Table. */
  readonly rowConditions?: (object: ValueObject) => readonly ValueObject[]
  /** The object is marked as terminating before it is removed. */
  readonly hasTerminatingPhase?: boolean
  /** Present: a delete without a propagation policy orphans the dependents. */
  readonly defaultPropagation?: Traits['defaultPropagation']
  readonly ignoresPropagation?: boolean
  /** Every response has this warning. */
  readonly deprecationWarning?: string
  /** Beside finalizers and grace period: whether the object must stay for now although it is being deleted. */
  readonly blocksDeletion?: (object: ApiObject) => boolean
  /** What changes on an object that is being deleted but must stay for now. */
  readonly prepareForDelete?: (object: ApiObject) => ApiObject
}

/** The server counts generations; what an update brings is replaced by the old one. */
export const keepGeneration: PrepareForUpdate = (object, old) => {
  keepFrom(ensureObject(object, 'metadata'), objectAt(old, 'metadata'), 'generation')
}

export const startGeneration = (object: ValueObject): void => {
  ensureObject(object, 'metadata')['generation'] = 1
}

export function countGeneration(object: ValueObject, old: ValueObject): void {
  ensureObject(object, 'metadata')['generation'] = numberAt(objectAt(old, 'metadata'), 'generation') + 1
}

export const same = (object: ValueObject, old: ValueObject, field: string): boolean =>
  equalValues(getOwn(object, field) ?? null, getOwn(old, field) ?? null)

/** A write to the object does not change the status, and a write to the status changes nothing else. */
export const keepStatus: PrepareForUpdate = (object, old) => keepFrom(object, old, 'status')
export const keepSpec: PrepareForUpdate = (object, old) => keepFrom(object, old, 'spec')

const METADATA_OF_OBJECT = [
  'deletionTimestamp',
  'generation',
  'selfLink',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
]

/** For the kinds whose metadata a write to the status does not change. */
export const keepMetadata: PrepareForUpdate = (object, old) => {
  const meta = ensureObject(object, 'metadata')
  for (const name of METADATA_OF_OBJECT) keepFrom(meta, objectAt(old, 'metadata'), name)
}

/** A write to `/status` of a kind whose metadata it does not change. Such a kind has `statusReset: ['metadata']`. */
export const statusAlone: PrepareForUpdate = (object, old, context) => {
  keepMetadata(object, old, context)
  keepSpec(object, old, context)
}

export function clearStatus(table: TypeTable, typeName: string): PrepareForCreate {
  return object => {
    object['status'] = copyValue(zeroOf(table.byName(typeName)))
  }
}

export const inTurn =
  (...steps: readonly PrepareForUpdate[]): PrepareForUpdate =>
  (object, old, context) => {
    for (const step of steps) step(object, old, context)
  }

/** A change of the spec is a new generation. */
export const countSpecChanges: PrepareForUpdate = (object, old) => {
  if (!same(object, old, 'spec')) countGeneration(object, old)
}

/** The same for kinds where an empty list or map in the place of none is a change, too. */
export const countExactChanges =
  (field: string): PrepareForUpdate =>
  (object, old) => {
    if (!same(object, old, field) || hasGivenEmpty(getOwn(object, field))) countGeneration(object, old)
  }

/** For kinds without a status: the generation counts changes of the spec. */
export const specOnly: BuiltinStrategy = {
  prepareForCreate: startGeneration,
  prepareForUpdate: inTurn(keepGeneration, countSpecChanges),
}

/** For kinds with a status: the generation counts changes of the spec. */
export const counted =
  (statusType: string, own: Partial<BuiltinStrategy> = {}) =>
  (table: TypeTable): BuiltinStrategy => {
    const clear = clearStatus(table, statusType)
    return {
      prepareForUpdate: inTurn(keepGeneration, keepStatus, countSpecChanges),
      prepareForStatusUpdate: inTurn(keepGeneration, keepSpec),
      ...own,
      prepareForCreate: (object, context) => {
        startGeneration(object)
        clear(object, context)
        own.prepareForCreate?.(object, context)
      },
    }
  }
