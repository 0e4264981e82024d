// What a verb gives back, before it is known in which form the client wants it.
import type { Served } from '../kinds/kind.js'
import type { Status } from '../meta/errors/status.js'
import type { ApiObject } from '../meta/object/api-object.js'
import type { Shown } from '../objects/object-view.js'
import type { VirtualAnswer } from '../request/virtual-resource.js'
import type { Revision } from '../storage/store.js'

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
