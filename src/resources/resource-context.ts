// What every verb works with: the stores of the kinds, the clock, and what a request is about.
import type { ApiObject, Kind } from '../kinds/kind.js'
import type { DeleteOptions, WriteOptions } from '../meta/write-options.js'
import type { Store } from '../storage/store.js'
import type { Served } from './answer.js'
import { createKindStore, type KindStore } from './kind-store.js'

export interface ResourceContext extends Admission {
  storeOf(kind: Kind): KindStore
  /** The kind is no more, or not as it was: whoever watches its objects is told that it is over. */
  forget(kind: Kind): void
  now(): number
  close(): Promise<void>
}

/** Who asks. */
export interface Caller {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
  readonly userAgent: string
}

/** What is about to happen to an object. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly target: Target
  /** Undefined when it is about to be deleted. */
  readonly object: ApiObject | undefined
  readonly old: ApiObject | undefined
  readonly options: WriteOptions | DeleteOptions
  readonly caller: Caller
}

/** Others who have a say in what is written. Both may add warnings, and refuse with a StatusError. */
export interface Admission {
  /** May change the object. */
  admit(request: AdmissionRequest & { readonly object: ApiObject }, warnings: string[]): Promise<ApiObject>
  /** Sees what is about to be stored. */
  validate(request: AdmissionRequest, warnings: string[]): Promise<void>
  /** Refuses what is only allowed to those who may do this, too. */
  permit(verb: string, target: Target, caller: Caller): Promise<void>
}

/** What a request addresses. */
export interface Target extends Served {
  /** Empty for cluster-scoped kinds, and for requests across all namespaces. */
  readonly namespace: string
  /** Empty for a collection. */
  readonly name: string
  /** Empty for the object itself. */
  readonly subresource: string
}

const ADMIT_ALL: Admission = {
  admit: async ({ object }) => object,
  validate: async () => {},
  permit: async () => {},
}

export interface ResourceOptions {
  readonly store: Store
  /** Who says nothing to a question agrees. */
  readonly admission?: Partial<Admission> | undefined
  /** Milliseconds, as `Date.now` gives them. */
  readonly now?: (() => number) | undefined
}

export function createResourceContext({ store, admission = {}, now = Date.now }: ResourceOptions): ResourceContext {
  // By the versions: a kind that differs in nothing that concerns its objects is still served from the same place. A kind
  // that was replaced keeps its store for the requests that began with it.
  const made = new WeakMap<Kind['versions'], KindStore>()
  const inUse = new Set<KindStore>()

  function storeOf(kind: Kind): KindStore {
    const known = made.get(kind.versions)
    if (known) return known
    const created = createKindStore(store, kind)
    made.set(kind.versions, created)
    inUse.add(created)
    return created
  }

  return {
    ...ADMIT_ALL,
    ...admission,
    now,
    storeOf,
    forget(kind) {
      const known = storeOf(kind)
      known.cache.retire()
      inUse.delete(known)
    },
    async close() {
      await Promise.all([...inUse].map(({ cache }) => cache.close()))
    },
  }
}
