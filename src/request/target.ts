// The resource and object that a request addresses.
import type { VersionedKind } from '../kinds/kind.js'

export interface Target extends VersionedKind {
  /** Empty for cluster-scoped kinds, and for requests across all namespaces. */
  readonly namespace: string
  /** Empty for a collection. */
  readonly name: string
  /** Empty for the object itself. */
  readonly subresource: string
}
