// What every verb works with: the stores of the kinds, the clock, and what a request is about.
import type { ApiObject, Kind } from '../kinds/kind.js'
import type { DeleteOptions, WriteOptions } from '../meta/write-options.js'
import type { Store } from '../storage/store.js'
import type { Served } from './answer.js'
import { createKindStore, type KindStore } from './kind-store.js'

export interface ResourceContext extends Admission {
  storeOf(kind: Kind): KindStore
  /** The kind is no more: whoever watches its objects is told that it is over. */
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
}

/** What a request addresses. */
export interface Target extends Served {
  /** Empty for cluster-scoped kinds, and for requests across all namespaces. */
  readonly namespace: string
  /** Empty for a collection. */
  readonly name: string
  readonly subresource: '' | 'status' | 'finalize' | 'scale'
}

const ADMIT_ALL: Admission = {
  admit: async ({ object }) => object,
  validate: async () => {},
}

export interface ResourceOptions {
  readonly store: Store
  readonly admission?: Admission | undefined
  /** Milliseconds, as `Date.now` gives them. */
  readonly now?: (() => number) | undefined
}

const idOf = (kind: Kind): string => `${kind.group} ${kind.folder}`

export function createResourceContext({
  store,
  admission = ADMIT_ALL,
  now = Date.now,
}: ResourceOptions): ResourceContext {
  const stores = new Map<string, { readonly kind: Kind; readonly store: KindStore }>()
  return {
    ...admission,
    now,
    storeOf(kind) {
      // Two groups may serve what is kept in one place, each with fields of its own.
      const id = idOf(kind)
      const known = stores.get(id)
      // A kind that differs in nothing that concerns its objects is still served from the same place.
      if (known?.kind.versions === kind.versions) return known.store
      // The kind was replaced: what selectors may ask for can have changed with it.
      void known?.store.cache.close()
      const made = createKindStore(store, kind)
      stores.set(id, { kind, store: made })
      return made
    },
    forget(kind) {
      const known = stores.get(idOf(kind))
      stores.delete(idOf(kind))
      void known?.store.cache.close()
    },
    async close() {
      await Promise.all([...stores.values()].map(({ store: each }) => each.cache.close()))
    },
  }
}
