// The OpenAPI documents of extension servers, as they are listed and joined here.

import type { ValueObject } from '../meta/values/value.js'

export interface RemoteDocuments {
  /** Replaced with every change. */
  current(): RemoteState
}

export interface RemoteState {
  /** Addresses of documents in version 3 by their path in the index: `apis/example.com/v1`. */
  readonly addresses: ReadonlyMap<string, string>
  /** Documents in version 3 that are printed here, by their path in the index: of servers that have them in version 2 only. */
  readonly converted: ReadonlyMap<string, Buffer>
  /** Documents in version 2, in the order in which they are joined. */
  readonly specs: readonly RemoteSpec[]
}

/** The document of a server in version 2, and which of its paths are published. */
export interface RemoteSpec {
  readonly etag: string
  /** `/apis/example.com/v1/`. */
  readonly prefix: string
  readonly spec: ValueObject
}

export const NO_REMOTE_DOCUMENTS: RemoteState = { addresses: new Map(), converted: new Map(), specs: [] }
