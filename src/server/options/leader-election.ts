// How soon another replica on the same etcd runs the controllers when the one that runs them has gone.
import { UsageError } from '../../base/usage-error.js'
import { DEFAULT_ELECTION_TIMES, type ElectionTimes } from '../../controllers/start-controllers.js'
import type { FlagTable, FlagValues } from './flag.js'
import { duration } from './flag-values.js'

/** By the names that kube-controller-manager gives them. */
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
} satisfies FlagTable

export function leaderElectionFromFlags(flags: FlagValues<typeof leaderElectionFlags>): ElectionTimes {
  const [leaseMs, renewDeadlineMs, retryMs] = [
    flags['leader-elect-lease-duration'],
    flags['leader-elect-renew-deadline'],
    flags['leader-elect-retry-period'],
  ]
  if (leaseMs < 1000) throw new UsageError('--leader-elect-lease-duration must be at least 1s')
  if (renewDeadlineMs >= leaseMs) {
    throw new UsageError('--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline')
  }
  if (retryMs <= 0 || retryMs * 1.2 >= renewDeadlineMs) {
    throw new UsageError('--leader-elect-renew-deadline must be greater than --leader-elect-retry-period * 1.2')
  }
  return { leaseMs, renewDeadlineMs, retryMs }
}
