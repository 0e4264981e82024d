// What every verb works with: the stores of the kinds, admission and the clock.
import type { Admission } from '../admission/attributes.js'
import { createObjectStores, type ObjectStores } from '../objects/object-stores.js'
import type { Store } from '../storage/store.js'

export interface ApiContext extends ObjectStores, Admission {
  now(): number
}

const ADMIT_ALL: Admission = {
  admit: async ({ object }) => object,
  validate: async () => {},
  permit: async () => {},
}

export interface ApiContextOptions {
  readonly store: Store
  /** Steps that are left out allow everything. */
  readonly admission?: Partial<Admission> | undefined
  /** Milliseconds, as `Date.now` gives them. */
  readonly now?: (() => number) | undefined
}

export const createApiContext = ({ store, admission = {}, now = Date.now }: ApiContextOptions): ApiContext => ({
  ...ADMIT_ALL,
  ...admission,
  now,
  ...createObjectStores(store),
})
