// Nodes as users: a kubelet is the user `system:node:<name>` in the group `system:nodes`.
import type { UserInfo } from '../../request/user-info.js'
import { NODES } from '../authn/system-groups.js'

const PREFIX = 'system:node:'

/** The name of the node, which may be empty; undefined for a user that is no node. */
export const nodeIdentity = ({ name, groups }: UserInfo): string | undefined =>
  name.startsWith(PREFIX) && groups.includes(NODES) ? name.slice(PREFIX.length) : undefined
