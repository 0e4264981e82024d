// How soon another replica on the same etcd runs the controllers when the one that runs them has gone.
import { UsageError } from '../../base/usage-error.js'
import { DEFAULT_ELECTION_TIMES, type ElectionTimes } from '../../controllers/start-controllers.js'
import type { FlagTable, FlagValues } from './flag.js'
import { duration } from './flag-values.js'

/** kube-apiserver's. */
const DEFAULT_COORDINATION_TIMES: ElectionTimes = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2000 }

/** By the names that kube-controller-manager and kube-apiserver give them. */
export const leaderElectionFlags = {
  'leader-elect-lease-duration': duration(
    'how long the replicas that stand by wait for the one that runs the controllers before one of them takes its place',
    DEFAULT_ELECTION_TIMES.leaseMs,
  ),
  'leader-elect-renew-deadline': duration(
    'how long the replica that runs the controllers goes on when it cannot renew its lease',
    DEFAULT_ELECTION_TIMES.renewDeadlineMs,
  ),
  'leader-elect-retry-period': duration(
    'how often the lease is renewed, and looked at by the replicas that stand by',
    DEFAULT_ELECTION_TIMES.retryMs,
  ),
  'coordinated-leadership-lease-duration': duration(
    'with the gate CoordinatedLeaderElection: the same for the replica that chooses the holders of Leases',
    DEFAULT_COORDINATION_TIMES.leaseMs,
  ),
  'coordinated-leadership-renew-deadline': duration(
    'how long that replica goes on when it cannot renew its lease',
    DEFAULT_COORDINATION_TIMES.renewDeadlineMs,
  ),
  'coordinated-leadership-retry-period': duration(
    'how often its lease is renewed, and looked at by the others',
    DEFAULT_COORDINATION_TIMES.retryMs,
  ),
} satisfies FlagTable

type Flags = FlagValues<typeof leaderElectionFlags>

export const leaderElectionFromFlags = (flags: Flags): ElectionTimes => electionTimes(flags, 'leader-elect')
export const coordinationFromFlags = (flags: Flags): ElectionTimes => electionTimes(flags, 'coordinated-leadership')

function electionTimes(flags: Flags, prefix: 'leader-elect' | 'coordinated-leadership'): ElectionTimes {
  const [leaseMs, renewDeadlineMs, retryMs] = [
    flags[`${prefix}-lease-duration`],
    flags[`${prefix}-renew-deadline`],
    flags[`${prefix}-retry-period`],
  ]
  if (leaseMs < 1000) throw new UsageError(`--${prefix}-lease-duration must be at least 1s`)
  if (renewDeadlineMs >= leaseMs) {
    throw new UsageError(`--${prefix}-lease-duration must be greater than --${prefix}-renew-deadline`)
  }
  if (retryMs <= 0 || retryMs * 1.2 >= renewDeadlineMs) {
    throw new UsageError(`--${prefix}-renew-deadline must be greater than --${prefix}-retry-period * 1.2`)
  }
  return { leaseMs, renewDeadlineMs, retryMs }
}
