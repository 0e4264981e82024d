// What a strategy is, and the parts that strategies are made of: keeping, clearing and counting.
import type { Traits } from '../kinds/kind.js'
import { ensureObject, keepFrom, numberAt, objectAt } from '../meta/values/access.js'
import { copyValue, equalValues, getOwn, type ValueObject } from '../meta/values/value.js'
import { zeroOf } from '../types/decode.js'
import type { TypeTable } from '../types/type-table.js'

export interface WriteContext {
  /** The moment of the write, as a Time. */
  readonly now: string
}

export type PrepareForCreate = (object: ValueObject, context: WriteContext) => void
export type PrepareForUpdate = (object: ValueObject, old: ValueObject, context: WriteContext) => void

export interface BuiltinStrategy {
  readonly prepareForCreate?: PrepareForCreate
  readonly prepareForUpdate?: PrepareForUpdate
  /** A write to the object's own status; kinds without one have no such subresource. */
  readonly prepareForStatusUpdate?: PrepareForUpdate
  /** A write to another part of the object that has a path of its own, by the name of that part. */
  readonly prepareForSubresourceUpdate?: Readonly<Record<string, PrepareForUpdate>>
  /** Runs last, once the name is certain. */
  readonly finish?: (object: ValueObject) => void
  /** A PUT creates what is not there. */
  readonly allowCreateOnUpdate?: boolean
  /** False: a PUT must say which resourceVersion it replaces. */
  readonly allowUnconditionalUpdate?: boolean
  /** A delete answers with the object instead of a Status. */
  readonly returnsDeletedObject?: boolean
  /** How many seconds an object that is to go is given to come to its end. */
  readonly gracePeriod?: (object: ValueObject, requested: number | undefined) => number
  /** What a Table tells of the row of an object beside its cells. */
  readonly rowConditions?: (object: ValueObject) => readonly ValueObject[]
  /** It is marked as on its way out before it goes. */
  readonly hasTerminatingPhase?: boolean
  /** A delete that does not say what is to become of dependents leaves them behind. */
  readonly defaultPropagation?: Traits['defaultPropagation']
  /** Every request is answered with this warning. */
  readonly deprecationWarning?: string
}

/** The generation is the server's to count; a client's is kept only when the object is new. */
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

/** Status is written through its own path, and nothing else is. */
export const keepStatus: PrepareForUpdate = (object, old) => keepFrom(object, old, 'status')
export const keepSpec: PrepareForUpdate = (object, old) => keepFrom(object, old, 'spec')

export function clearStatus(table: TypeTable, typeName: string): PrepareForCreate {
  return object => {
    object['status'] = copyValue(zeroOf(table, typeName))
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

/** No status; the generation counts changes of the spec. */
export const specOnly: BuiltinStrategy = {
  prepareForCreate: startGeneration,
  prepareForUpdate: inTurn(keepGeneration, countSpecChanges),
}

/** For kinds with a status and a generation that counts what is asked of them. */
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
