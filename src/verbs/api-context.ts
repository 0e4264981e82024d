// What every verb works with: the stores of the kinds, and what the write pipeline needs.
import { type Admission, NO_ADMISSION } from '../admission/chain.js'
import type { Awaitable } from '../base/awaitable.js'
import { SYSTEM_CLOCK } from '../base/clock.js'
import { type IdGenerator, RANDOM_IDS } from '../meta/object/ids.js'
import type { ObjectEntry } from '../objects/object-attributes.js'
import { createObjectStores, type ObjectStores } from '../objects/object-stores.js'
import type { Target } from '../request/target.js'
import type { UserInfo } from '../request/user-info.js'
import type { Store } from '../storage/store.js'
import { createManagedTypes } from './pipeline/field-tracking.js'
import type { PipelineEnv } from './pipeline/pipeline-env.js'
import { createWriterQueues, type WriterQueues } from './write/writer-queues.js'

export interface ApiContext extends ObjectStores, PipelineEnv {
  readonly permit: Permit
  readonly writers: WriterQueues
  readonly gates: VerbGates
  readonly namespaces: Namespaces
}

/** The namespaces in which objects are created. */
export interface Namespaces {
  /** As this process knows it, if it does. */
  known(name: string): Awaitable<ObjectEntry | undefined>
  /** As it is stored. What other processes have written is known afterwards. */
  latest(name: string): Promise<ObjectEntry | undefined>
}

const NO_NAMESPACES: Namespaces = { known: () => undefined, latest: async () => undefined }

/** The feature gates and flags that the verbs depend on. */
export interface VerbGates {
  /** AllowUnsafeMalformedObjectDeletion: objects that cannot be read are reported as such, and can be deleted. */
  readonly unsafeDeletion: boolean
  /** WatchList: a watch may begin with the objects that exist. */
  readonly watchList: boolean
  /** --watch-cache: a list at resourceVersion=0 is answered as from a cache, which knows no limit. */
  readonly watchCache: boolean
}

const DEFAULT_GATES: VerbGates = { unsafeDeletion: false, watchList: true, watchCache: true }

/** Throws a StatusError if the user may not use the verb on the target. */
export type Permit = (verb: string, target: Target, user: UserInfo) => Promise<void>

export interface ApiContextOptions {
  readonly store: Store
  /** The object stores of another context, to share them. */
  readonly objects?: ObjectStores | undefined
  /** Phases that are left out admit everything. */
  readonly admission?: Partial<Admission> | undefined
  /** Permits everything if absent. */
  readonly permit?: Permit | undefined
  readonly gates?: VerbGates | undefined
  /** Objects are created in any namespace if absent. */
  readonly namespaces?: Namespaces | undefined
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined
  readonly ids?: IdGenerator | undefined
}

export const createApiContext = ({
  store,
  objects,
  admission,
  permit,
  gates,
  namespaces,
  now,
  ids,
}: ApiContextOptions): ApiContext => ({
  admission: { ...NO_ADMISSION, ...admission },
  permit: permit ?? (async () => {}),
  gates: gates ?? DEFAULT_GATES,
  namespaces: namespaces ?? NO_NAMESPACES,
  now: now ?? SYSTEM_CLOCK.now,
  ids: ids ?? RANDOM_IDS,
  allocationOf: kind => kind.allocation,
  managedTypes: createManagedTypes(),
  writers: createWriterQueues(),
  ...(objects ?? createObjectStores(store)),
})
