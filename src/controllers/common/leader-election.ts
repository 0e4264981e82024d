// Leader election by a Lease, as client-go does it. The replica whose name is in the Lease leads as long as it renews it.
// The others ignore the times in the Lease, because clocks differ: a Lease that one of them has seen unchanged for its
// whole duration, by its own monotonic clock, is free.
import type { Kind } from '../../kinds/kind.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { numberAt, objectAt, stringAt } from '../../meta/values/access.js'
import { printMicroTime } from '../../meta/values/time.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { serverObjects } from '../../verbs/system-writes.js'
import { type ControllerEnv } from './controller.js'

export interface ElectionTimes {
  /** A Lease that is not renewed for this long is free. */
  readonly leaseMs: number
  /** The leader gives up when it could not renew for this long; shorter than `leaseMs`, so that there are never two. */
  readonly renewDeadlineMs: number
  readonly retryMs: number
}

/** Shorter than Kubernetes' 15, 10 and 2 seconds, because a leader is one process and not a machine with its kubelet. */
export const DEFAULT_ELECTION_TIMES: ElectionTimes = { leaseMs: 6000, renewDeadlineMs: 4000, retryMs: 1000 }

export interface Candidate {
  readonly context: ApiContext
  readonly leases: Kind
  /** The name of the Lease in kube-system. */
  readonly name: string
  /** A name of this replica that no other has. */
  readonly identity: string
  readonly times?: ElectionTimes | undefined
  readonly env: ControllerEnv
}

export interface Elected {
  /** This replica leads from now on. */
  leading(): void
  /** It does not lead any more. */
  lost(): void
}

export interface LeaderElection {
  /** Ends the candidacy. A leader calls `lost` and then frees the Lease, so that another replica leads at once. */
  stop(): Promise<void>
}

const NAMESPACE = 'kube-system'
/** How long a stop waits for the store to take the release of the Lease. */
const RELEASE_MS = 1000

export function startLeaderElection(candidate: Candidate, { leading, lost }: Elected): LeaderElection {
  const { context, leases, name, identity, env } = candidate
  const times = candidate.times ?? DEFAULT_ELECTION_TIMES
  const objects = serverObjects(context)
  const log = env.log.child({ lease: name, identity })
  const status = env.metrics
    .gauge('leader_election_master_status', 'Whether this replica leads, 1, or stands by, 0, by Lease', ['name'])
    .with(name)
  /** The Lease as it was last seen, and when it was seen like that for the first time. One that was deleted has no version. */
  let seen: SeenLease | undefined
  let isLeader = false
  let renewedAt = 0
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let deadline: NodeJS.Timeout | undefined
  let attempt: Promise<void> = Promise.resolve()
  status.set(0)

  /** Takes or renews the Lease if that is allowed; true if this replica holds it now. */
  async function takeOrRenew(): Promise<boolean> {
    const begun = performance.now()
    let found = false
    let holds = false
    const change = (): Promise<void> =>
      objects.change(leases, NAMESPACE, name, old => {
        found = true
        holds = isFree(old)
        return holds ? { ...old, spec: heldSpec(objectAt(old, 'spec'), 1) } : undefined
      })
    await change()
    if (!found && mayCreate()) {
      await objects.create(leases, { metadata: { name, namespace: NAMESPACE }, spec: heldSpec({}, 0) })
      // Another replica may have created it at the same time.
      await change()
    }
    // The duration counts from before the write, since the other replicas may see it before the answer comes.
    if (holds) renewedAt = begun
    return holds
  }

  function isFree(lease: ApiObject): boolean {
    const spec = objectAt(lease, 'spec')
    const holder = stringAt(spec, 'holderIdentity')
    const { resourceVersion = '' } = metaOf(lease)
    if (resourceVersion !== seen?.version) {
      const lastsMs = Math.min(numberAt(spec, 'leaseDurationSeconds') * 1000, MAX_LEASE_MS)
      seen = { version: resourceVersion, at: performance.now(), lastsMs }
    }
    return holder === '' || holder === identity || hasRunOut(seen)
  }

  /** The leader of a Lease that was deleted leads until it could not renew it for as long as it lasted. */
  function mayCreate(): boolean {
    if (isLeader || !seen) return true
    if (seen.version !== undefined) seen = { ...seen, version: undefined, at: performance.now() }
    return hasRunOut(seen)
  }

  /** The spec with this replica as the holder. `transitions` is 1 where a change of the holder is to be counted. */
  function heldSpec(before: ValueObject, transitions: 0 | 1): ValueObject {
    const now = printMicroTime(context.now())
    const isRenewal = stringAt(before, 'holderIdentity') === identity
    return {
      ...before,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(times.leaseMs / 1000),
      acquireTime: isRenewal ? before['acquireTime']! : now,
      renewTime: now,
      leaseTransitions: numberAt(before, 'leaseTransitions') + (isRenewal ? 0 : transitions),
    }
  }

  async function tryOnce(): Promise<void> {
    let holds = false
    try {
      holds = await takeOrRenew()
    } catch (error) {
      log.debug('the Lease cannot be read or written', { error })
      // The Lease may still be ours; the deadline decides.
      holds = isLeader
    }
    if (isStopped) return
    if (holds && performance.now() - renewedAt < times.renewDeadlineMs) lead()
    else if (!holds) giveUp('another replica holds it')
    timer = setTimeout(run, times.retryMs * (1 + env.random() / 5))
  }

  function lead(): void {
    clearTimeout(deadline)
    const left = times.renewDeadlineMs - (performance.now() - renewedAt)
    deadline = setTimeout(() => giveUp('it could not be renewed in time'), left).unref()
    if (isLeader) return
    isLeader = true
    status.set(1)
    log.info('this replica runs the controllers')
    leading()
  }

  function giveUp(reason: string): void {
    clearTimeout(deadline)
    if (!isLeader) return
    isLeader = false
    status.set(0)
    if (!isStopped) log.warn('this replica no longer runs the controllers', { reason })
    lost()
  }

  function run(): void {
    attempt = tryOnce()
  }

  /** A holder without a name: the next replica that looks takes the Lease. */
  const release = (): Promise<void> =>
    objects.change(leases, NAMESPACE, name, old => {
      const spec = objectAt(old, 'spec')
      return stringAt(spec, 'holderIdentity') === identity
        ? { ...old, spec: { ...spec, holderIdentity: '', leaseDurationSeconds: 1 } }
        : undefined
    })

  run()
  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      const wasLeader = isLeader
      giveUp('the server stops')
      const released = attempt.then(() => (wasLeader ? release() : undefined)).catch(() => {})
      await Promise.race([released, new Promise(resolve => setTimeout(resolve, RELEASE_MS).unref())])
    },
  }
}

interface SeenLease {
  readonly version: string | undefined
  readonly at: number
  readonly lastsMs: number
}

const hasRunOut = ({ at, lastsMs }: SeenLease): boolean => performance.now() - at > lastsMs

/** A duration that was written by hand must not stop the controllers for good. */
const MAX_LEASE_MS = 5 * 60_000
