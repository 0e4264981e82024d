// The kinds that the connect subresources look up.
import type { Kind } from '../../../kinds/kind.js'

export interface ConnectKinds {
  readonly pods: Kind
  readonly nodes: Kind
  readonly services: Kind
  readonly endpoints: Kind
}
