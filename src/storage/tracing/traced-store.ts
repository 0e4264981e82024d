// A store whose work for requests that are traced has spans, with the names that kube-apiserver gives to those of etcd. What
// the watch cache answers from memory never comes here.
import { type Attributes, traced } from '../../base/tracing/span.js'
import type { Store } from '../store.js'

/** `describe`: the attributes of a key. */
export function createTracedStore(store: Store, describe: (key: string) => Attributes): Store {
  const attributesOf =
    (key: string): (() => Attributes) =>
    () => ({ key, ...describe(key) })
  return {
    ...store,
    range: (prefix, options = {}) =>
      traced(
        'List(recursive=true) etcd3',
        () => ({ key: prefix, limit: options.limit ?? 0, continue: options.startAfter ?? '' }),
        () => store.range(prefix, options),
      ),
    create: (key, value, guard) =>
      traced('Create etcd3', attributesOf(key), async span => {
        const result = await store.create(key, value, guard)
        span?.event('Txn call succeeded')
        return result
      }),
    update: (key, value, expected, guard) =>
      traced('GuaranteedUpdate etcd3', attributesOf(key), async span => {
        const result = await store.update(key, value, expected, guard)
        span?.event('Txn call completed')
        if (result.done) span?.event('Transaction committed')
        return result
      }),
    delete: (key, expected) =>
      traced('Delete etcd3', attributesOf(key), async span => {
        const result = await store.delete(key, expected)
        span?.event('Txn call completed')
        return result
      }),
  }
}
