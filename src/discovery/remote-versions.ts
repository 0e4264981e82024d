// Group versions that extension servers serve, as they are listed here.

import type { ValueObject } from '../meta/values/value.js'

export interface RemoteVersions {
  /** Grows with every change. */
  readonly generation: number
  /** An unchanged version stays the same object. */
  all(): Iterable<RemoteVersion>
}

export interface RemoteVersion {
  readonly group: string
  readonly version: string
  readonly groupPriority: number
  readonly versionPriority: number
  /** APIResourceDiscovery objects. */
  readonly resources: readonly ValueObject[]
  /** `Stale` if the extension server could not be asked. */
  readonly freshness: 'Current' | 'Stale'
}

export const NO_REMOTE_VERSIONS: RemoteVersions = { generation: 0, all: () => [] }
