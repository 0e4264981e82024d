// The result of a verb, before it is encoded in the format of the response.
import type { VersionedKind } from '../kinds/kind.js'
import type { Status } from '../meta/errors/status.js'
import type { ApiObject } from '../meta/object/api-object.js'
import type { Gathering, ListPiece, PieceForm } from '../objects/object-store.js'
import type { ObjectView } from '../objects/object-view.js'
import type { VirtualResult } from '../request/virtual-resource.js'
import type { Revision } from '../storage/store.js'

export type Result = ObjectResult | ScaleResult | VirtualResult | StatusResult | ListResult

interface Common {
  readonly status: number
}

export interface ObjectResult extends Common {
  readonly type: 'object'
  readonly versioned: VersionedKind
  readonly object: ObjectView
}

/** The Scale of an object. */
export interface ScaleResult extends Common {
  readonly type: 'scale'
  readonly object: ApiObject
}

export interface StatusResult extends Common {
  readonly type: 'status'
  readonly body: Status
}

export interface ListResult extends Common {
  readonly type: 'list'
  readonly versioned: VersionedKind
  /** Absent for objects that are not stored. */
  readonly revision?: Revision | undefined
  readonly continueToken?: string | undefined
  readonly remaining?: number | undefined
  /**
   * The objects in order, page by page, so that a long list is never in memory as a whole. They may be read more than
   * once.
   */
  readonly pages: ListPages
  /** The items as JSON, if they are kept since an earlier request: then `pages` is not needed. */
  readonly kept?: KeptItems | undefined
  /** Takes the items as JSON, for the next request of the same list. */
  readonly keep?: KeepItems | undefined
}

export interface KeepItems {
  (pieces: readonly ListPiece[]): KeptItems
  /** Begins to gather them; `drop` is called when they must be given up. Undefined if they are not to be gathered. */
  gather(drop: () => void): Gathering | undefined
}

export interface KeptItems {
  readonly pieces: readonly ListPiece[]
  /** Keeps one of the pieces in another format, for the next request of the list in that format. */
  addForm(piece: ListPiece, name: string, form: PieceForm): void
}

export interface ListPages extends AsyncIterable<readonly ObjectView[]> {
  /** All objects, if they are one page, which is read already. */
  readonly only?: readonly ObjectView[] | undefined
  /** How many bytes of objects are in memory while the list is sent. */
  readonly retained?: (() => number) | undefined
}
