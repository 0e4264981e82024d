// Coordinated leader election: processes that may hold a Lease name themselves by LeaseCandidates, and this controller chooses the
// holder. Before an election it asks the candidates whether they live (`pingTime`), and they answer (`renewTime`).
import { isDeepStrictEqual } from 'node:util'
import type { Kind } from '../../kinds/kind.js'
import { hasReason } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import { printMicroTime } from '../../meta/values/time.js'
import type { ValueObject } from '../../meta/values/value.js'
import { startInformer } from '../../objects/informer.js'
import { keyPrefixOf } from '../../objects/object-store.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { serverObjects } from '../../verbs/system-writes.js'
import { type Controller, type ControllerEnv, createControllerQueue, whenRead } from '../common/controller.js'
import { startIntervalController } from '../common/interval-controller.js'
import { hasExpired } from '../common/lease-expiry.js'
import { type Candidate, candidateOf, OLDEST_EMULATION, oldestOf, strategyOf } from './electee.js'

export interface ElectionKinds {
  readonly leases: Kind
  readonly candidates: Kind
}

/** How long an answer to a question is awaited, and counts. */
const ELECTION_MS = 5_000
/** How often each Lease is looked at. */
const RECHECK_MS = 5_000
const LEASE_SECONDS = 5
/** How long a candidate counts that does not answer. */
const CANDIDATE_MS = 30 * 60_000

export async function startCoordinatedElection(
  context: ApiContext,
  { leases, candidates }: ElectionKinds,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = serverObjects(context)
  const rechecks = new Map<string, () => void>()
  const queue = createControllerQueue('leader-election-controller', env, async key => {
    const [namespace = '', name = ''] = key.split('/')
    // The first recheck counts: it comes when the candidates that were asked have had their time.
    if (!(await elect(namespace, name)) || rechecks.has(key)) return
    const cancel = env.clock.after(RECHECK_MS, () => {
      rechecks.delete(key)
      queue.add(key)
    })
    rechecks.set(key, cancel)
  })

  async function candidatesFor(namespace: string, leaseName: string): Promise<readonly Candidate[]> {
    const { entries } = await context.objectStore(candidates).cache.range(keyPrefixOf(candidates, namespace))
    const now = env.clock.now()
    return entries
      .map(entry => candidateOf(decodeStored(entry)))
      .filter(each => each.leaseName === leaseName && each.renewedAt + CANDIDATE_MS >= now)
  }

  /** One step towards a holder. True if the Lease is to be looked at again. */
  async function elect(namespace: string, name: string): Promise<boolean> {
    const known = await candidatesFor(namespace, name)
    if (known.length === 0) return false
    const now = env.clock.now()
    const lease = await objects.get(leases, namespace, name)
    if (!isElectionNeeded(lease, known, now)) return true
    const asked = known.filter(candidate => isToBeAsked(candidate, now))
    for (const { name: candidate } of asked) {
      await objects.change(candidates, namespace, candidate, old => withSpec(old, { pingTime: printMicroTime(now) }))
    }
    if (asked.length > 0 || known.some(candidate => isAwaited(candidate, now))) return true
    const alive = known.filter(({ renewedAt }) => renewedAt + ELECTION_MS > now)
    const strategy = alive.length === 0 ? undefined : strategyOf(alive)
    // The next event of a candidate brings the next election.
    if (strategy === undefined) return false
    await hold(namespace, name, strategy, strategy === OLDEST_EMULATION ? oldestOf(alive)?.name : undefined)
    return true
  }

  async function hold(namespace: string, name: string, strategy: string, holder: string | undefined): Promise<void> {
    const renewed = { renewTime: printMicroTime(env.clock.now()), leaseDurationSeconds: LEASE_SECONDS }
    const spec = { ...(holder !== undefined && { holderIdentity: holder }), strategy, ...renewed }
    try {
      await objects.createNew(leases, { metadata: { name, namespace }, spec })
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error
      await objects.change(leases, namespace, name, old => {
        const changed = withSpec(old, { strategy, ...changeOfHolder(old, holder, env.clock.now(), renewed) })
        return isDeepStrictEqual(changed, old) ? undefined : changed
      })
    }
  }

  const follow = (kind: Kind, keyOf: (object: ApiObject) => string | undefined) => {
    const add = (value: { readonly key: string; readonly value: Buffer; readonly revision: number }): void => {
      const key = keyOf(decodeStored(value))
      if (key !== undefined) queue.add(key)
    }
    return startInformer(
      context.objectStore(kind).cache,
      kind.keyPrefix,
      {
        entry: add,
        event({ key, value, previous, revision }) {
          const last = value ?? previous?.value
          if (last) add({ key, value: last, revision })
        },
      },
      env.log,
    )
  }
  const informers = [
    follow(leases, lease => keyOfLease(metaOf(lease).namespace, metaOf(lease).name)),
    follow(candidates, object => {
      const candidate = candidateOf(object)
      // One that was just asked: its answer is the event to wait for.
      return candidate.renewedAt < candidate.askedAt ? undefined : keyOfLease(candidate.namespace, candidate.leaseName)
    }),
  ]
  await Promise.all(informers.map(({ started }) => whenRead(started)))
  return {
    idle: () => queue.idle(),
    stop() {
      for (const informer of informers) informer.stop()
      for (const cancel of rechecks.values()) cancel()
      queue.stop()
    },
  }
}

const keyOfLease = (namespace = '', name = ''): string => `${namespace}/${name}`

const withSpec = (object: ApiObject, changes: ValueObject): ApiObject => {
  const spec: ValueObject = { ...objectAt(object, 'spec'), ...changes }
  for (const [name, value] of Object.entries(spec)) if (value === null) delete spec[name]
  return { ...object, spec }
}

/** True if the Lease has no holder or a worse one than it could have, or if candidates are to be heard again. */
function isElectionNeeded(lease: ApiObject | undefined, candidates: readonly Candidate[], now: number): boolean {
  const holder = lease ? stringAt(objectAt(lease, 'spec'), 'holderIdentity') : ''
  if (!lease || holder === '' || hasExpired(lease, now)) return true
  if (candidates.some(({ renewedAt }) => renewedAt + CANDIDATE_MS / 2 < now)) return true
  if (strategyOf(candidates) !== OLDEST_EMULATION) return false
  const best = oldestOf(candidates)
  return best !== undefined && best.name !== holder
}

/** It was asked a short time ago and has not answered yet. */
const isAwaited = ({ askedAt, renewedAt }: Candidate, now: number): boolean =>
  askedAt + ELECTION_MS > now && renewedAt < askedAt

/** It did not answer a short time ago, and not because it does not answer at all. */
const isToBeAsked = (candidate: Candidate, now: number): boolean => {
  const { askedAt, renewedAt } = candidate
  if (isAwaited(candidate, now) || renewedAt + ELECTION_MS > now) return false
  return Number.isNaN(askedAt) || (askedAt + ELECTION_MS < now && !(renewedAt < askedAt))
}

/** A holder that lives is asked to give way (`preferredHolder`); any other is replaced. */
function changeOfHolder(lease: ApiObject, holder: string | undefined, now: number, renewed: ValueObject): ValueObject {
  if (holder === undefined) return {}
  const current = stringAt(objectAt(lease, 'spec'), 'holderIdentity')
  if (current === holder) return {}
  if (current !== '' && !hasExpired(lease, now)) return { preferredHolder: holder }
  return { ...renewed, holderIdentity: holder, preferredHolder: null, acquireTime: null }
}

/** Deletes candidates that have not answered for long. */
export function startCandidateCollector(context: ApiContext, candidates: Kind, env: ControllerEnv): Controller {
  const objects = serverObjects(context)

  async function collect(): Promise<void> {
    const { entries } = await context.objectStore(candidates).cache.range(candidates.keyPrefix)
    for (const entry of entries) {
      const object = decodeStored(entry)
      const { name, namespace, renewedAt } = candidateOf(object)
      if (renewedAt + CANDIDATE_MS >= env.clock.now()) continue
      // Only as it was read: it may have answered since.
      const preconditions = { uid: metaOf(object).uid ?? '', resourceVersion: String(entry.revision) }
      await objects.delete(candidates, namespace, name, { preconditions })
    }
  }

  return startIntervalController('lease_candidate_gc', env, CANDIDATE_MS, collect)
}
