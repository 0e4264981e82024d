// Several stores as one: some resources have a store of their own (`--etcd-servers-overrides`). Each store has its own
// revisions, so that the revision of one resource says nothing about another's.
import { guardChanged } from './storage-error.js'
import { eachGuard, type Guard, type Store } from './store.js'

export interface StoreRoute {
  /** Of the keys of a resource, such as `/events/`. */
  readonly prefix: string
  readonly store: Store
}

/** Everything that no route is for is in `main`. Closing it closes `main` and `others`, to which the routes lead. */
export function createRoutedStore(main: Store, routes: readonly StoreRoute[], others: readonly Store[]): Store {
  const storeOf = (target: string): Store => routes.find(({ prefix }) => target.startsWith(prefix))?.store ?? main

  /** A transaction cannot reach over two stores: guards in another one are checked before the write. */
  async function guardHere(key: string, guard: Guard | undefined): Promise<Guard | undefined> {
    let here: Guard | undefined
    for (const { key: other, revision } of eachGuard(guard)) {
      if (storeOf(other) === storeOf(key)) here = { key: other, revision, ...(here && { and: here }) }
      else if (((await storeOf(other).get(other))?.revision ?? 0) !== revision) {
        throw guardChanged(other)
      }
    }
    return here
  }

  return {
    ...main,
    revision: under => (under === undefined ? main : storeOf(under)).revision(),
    get: (key, at) => storeOf(key).get(key, at),
    range: (prefix, options) => storeOf(prefix).range(prefix, options),
    create: async (key, value, guard) => storeOf(key).create(key, value, await guardHere(key, guard)),
    update: async (key, value, expected, guard) =>
      storeOf(key).update(key, value, expected, await guardHere(key, guard)),
    delete: (key, expected) => storeOf(key).delete(key, expected),
    ...(main.putWithTtl && {
      putWithTtl: (key: string, value: Uint8Array, seconds: number) => storeOf(key).putWithTtl!(key, value, seconds),
    }),
    watch: (target, after, sink) => storeOf(target).watch(target, after, sink),
    checkOthers: others.map(store => () => store.check()),
    async close() {
      await Promise.all([main, ...others].map(store => store.close()))
    },
  }
}
