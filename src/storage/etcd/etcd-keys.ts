// Where our keys stand in etcd: below a prefix, as Kubernetes has them (`/registry/configmaps/default/settings`).
import { endOfFolder } from '../keys.js'
import { StorageError } from '../storage-error.js'
import type { Entry } from '../store.js'
import type { KeyValue } from './messages.js'

export interface KeyLayout {
  /** Our key or folder as etcd has it. */
  keyOf(path: string): Buffer
  /** The first of etcd's keys that comes after all keys of the folder. */
  endOf(prefix: string): Buffer
  /** etcd's key as ours. */
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
    endOf: folder => Buffer.from(prefix + endOfFolder(folder)),
    pathOf,
    // A copy: what stays of a large answer must not keep the rest of it in memory.
    entryOf: ({ key, value, modRevision }) => ({ key: pathOf(key), value: Buffer.from(value), revision: modRevision }),
  }
}

/** With a slash at the front and none at the end, as kube-apiserver reads its own `--etcd-prefix`. */
function normalPrefix(prefix: string): string {
  if (prefix.includes('\0') || !prefix.isWellFormed()) {
    throw new StorageError(
      'invalid-folder',
      `${JSON.stringify(prefix)} is not a prefix: it holds a NUL or half a surrogate pair`,
    )
  }
  const segments = prefix.split('/').filter(segment => segment !== '')
  return segments.map(segment => `/${segment}`).join('')
}
