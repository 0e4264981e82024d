// The priority classes that every cluster has; the server creates them.

export interface SystemPriorityClass {
  readonly name: string
  readonly value: number
  readonly description: string
}

export const SYSTEM_PRIORITY_CLASSES: readonly SystemPriorityClass[] = [
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
]

/** The prefix of names that only these classes may have. */
export const SYSTEM_PRIORITY_PREFIX = 'system-'

export const findSystemClass = (name: string): SystemPriorityClass | undefined =>
  SYSTEM_PRIORITY_CLASSES.find(each => each.name === name)
