// The mapping of keys to etcd's keys: below a prefix, as in Kubernetes (`/registry/configmaps/default/settings`).
import { endOfPrefix } from '../keys.js'
import { StorageError } from '../storage-error.js'
import type { Entry } from '../store.js'
import type { KeyValue } from './client/messages.js'

export interface KeyLayout {
  /** The etcd key of a key or key prefix. */
  keyOf(path: string): Buffer
  /** The first etcd key after all keys with the prefix. */
  endOf(prefix: string): Buffer
  /** The key of an etcd key. */
  pathOf(key: Buffer): string
  entryOf(kv: KeyValue): Entry
}

export const DEFAULT_PREFIX = '/registry'

export function createKeyLayout(givenPrefix: string): KeyLayout {
  const prefix = normalPrefix(givenPrefix)
  const prefixBytes = Buffer.byteLength(prefix)
  const pathOf = (key: Buffer): string => key.toString('utf8', prefixBytes)
  return {
    keyOf: path => Buffer.from(prefix + path),
    endOf: path => Buffer.from(prefix + endOfPrefix(path)),
    pathOf,
    // A copy, so that one entry of a large response does not keep all of it in memory.
    entryOf: ({ key, value, modRevision }) => ({ key: pathOf(key), value: Buffer.from(value), revision: modRevision }),
  }
}

/** With a slash at the start and none at the end, as kube-apiserver normalizes `--etcd-prefix`. */
function normalPrefix(prefix: string): string {
  if (prefix.includes('\0') || !prefix.isWellFormed()) {
    throw new StorageError(
      'invalid-prefix',
      `${JSON.stringify(prefix)} is not a prefix: it holds a NUL or half a surrogate pair`,
    )
  }
  const segments = prefix.split('/').filter(segment => segment !== '')
  return segments.map(segment => `/${segment}`).join('')
}
