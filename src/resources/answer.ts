// What a verb gives back, before it is known in which form the client wants it.
import type { ApiObject, Kind, KindVersion } from '../kinds/kind.js'
import type { Status } from '../meta/status.js'
import type { Entry, Revision } from '../storage/store.js'

/** A kind in the version that the request speaks. */
export interface Served {
  readonly kind: Kind
  readonly version: KindVersion
}

export type Answer = ObjectAnswer | ScaleAnswer | VirtualAnswer | StatusAnswer | ListAnswer

interface Common {
  readonly status: number
  readonly warnings: readonly string[]
}

export interface ObjectAnswer extends Common {
  readonly type: 'object'
  readonly served: Served
  readonly object: Shown
}

/** An object of another kind than the one that was addressed: a Scale. */
export interface ScaleAnswer extends Common {
  readonly type: 'scale'
  readonly object: ApiObject
}

/** An object that was made for the answer, and is kept nowhere. */
export interface VirtualAnswer extends Common {
  readonly type: 'virtual'
  readonly object: ApiObject
}

export interface StatusAnswer extends Common {
  readonly type: 'status'
  readonly body: Status
}

export interface ListAnswer extends Common {
  readonly type: 'list'
  readonly served: Served
  readonly revision: Revision
  readonly continueToken?: string | undefined
  readonly remaining?: number | undefined
  /** The objects in order, some at a time, so that a long list is never in memory as a whole. */
  readonly pages: AsyncIterable<readonly Shown[]>
}

/**
 * An object to be shown: as it lies in the store, where it can be shown so, and as a value for those who must look
 * inside, parsed when they do.
 */
export interface Shown {
  /** Set only where its bytes begin as all objects of the version that is asked for do in the store. */
  readonly entry: Entry | undefined
  value(): ApiObject
}
