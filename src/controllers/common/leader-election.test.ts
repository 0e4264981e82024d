import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { objectAt } from '../../meta/values/access.js'
import { createWorld, type World } from '../../verbs/api-world.suite.js'
import { serverObjects } from '../../verbs/system-writes.js'
import { quietEnv } from './controller.js'
import { runControllers } from './controller-runner.js'
import { type ElectionTimes, type LeaderElection, startLeaderElection } from './leader-election.js'

const STEP_MS = 5
const TIMES: ElectionTimes = { leaseMs: 200, renewDeadlineMs: 100, retryMs: 20 }
let world: World
let log: string[]
const running: LeaderElection[] = []

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  world = createWorld()
  log = []
  await world.createNamespace('kube-system')
})
afterEach(async () => {
  await Promise.all(running.splice(0).map(each => each.stop()))
  await world.context.close()
  await world.store.close()
  vi.useRealTimers()
})

/** Lets this much time pass. After each step the store has as many turns of the loop as a write can need. */
async function pass(milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += STEP_MS) {
    vi.advanceTimersByTime(STEP_MS)
    for (let i = 0; i < 20; i++) await turn()
  }
}

const leases = () => world.registry.findKind('coordination.k8s.io', 'Lease')!
const lease = async () => objectAt((await world.find(leases(), 'kube-system', 'controllers'))!, 'spec')

/** A candidate; `context` may be one whose store fails. */
function compete(identity: string, context = world.context): LeaderElection {
  const candidate = { context, leases: leases(), name: 'controllers', identity, times: TIMES, env: quietEnv() }
  const election = startLeaderElection(candidate, {
    leading: () => void log.push(`${identity} leads`),
    lost: () => void log.push(`${identity} lost`),
  })
  running.push(election)
  return election
}

/** A context whose store cannot be reached while `isCut`. */
function breakable() {
  const link = {
    isCut: false,
    context: {
      ...world.context,
      objectStore(kind: Parameters<typeof world.context.objectStore>[0]) {
        if (link.isCut) throw new Error('cut off')
        return world.context.objectStore(kind)
      },
    },
  }
  return link
}

test('one of several candidates leads, and renews its Lease', async () => {
  compete('a')
  compete('b')
  compete('c')
  await pass(STEP_MS)
  expect(log).toHaveLength(1)
  const first = await lease()
  await pass(2 * TIMES.leaseMs)
  expect((await lease())['renewTime']).not.toBe(first['renewTime'])
  expect(log).toHaveLength(1)
  expect(await lease()).toMatchObject({ holderIdentity: log[0]!.split(' ')[0], leaseTransitions: 0 })
})

test('a leader that stops frees the Lease, and the next one leads at once', async () => {
  const a = compete('a')
  await pass(STEP_MS)
  expect(log).toEqual(['a leads'])
  compete('b')
  await pass(STEP_MS)
  await a.stop()
  await pass(2 * TIMES.retryMs)
  expect(log).toEqual(['a leads', 'a lost', 'b leads'])
  expect(await lease()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 })
})

test('a leader that cannot write gives up before another takes over', async () => {
  const link = breakable()
  compete('a', link.context)
  await pass(STEP_MS)
  expect(log).toEqual(['a leads'])
  compete('b')
  link.isCut = true
  await pass(TIMES.renewDeadlineMs)
  expect(log).toEqual(['a leads', 'a lost'])
  // The duration in a Lease is whole seconds.
  await pass(1000)
  expect(log).toEqual(['a leads', 'a lost', 'b leads'])
  link.isCut = false
  await pass(2 * TIMES.leaseMs)
  expect(log).toEqual(['a leads', 'a lost', 'b leads'])
})

test('a wrong clock in the Lease does not matter: only whether it changes', async () => {
  await world.create(
    leases(),
    'kube-system',
    'controllers',
    {},
    {
      spec: { holderIdentity: 'gone', leaseDurationSeconds: 1, renewTime: '2099-01-01T00:00:00.000000Z' },
    },
  )
  compete('a')
  await pass(1000)
  expect(log).toEqual([])
  await pass(2 * TIMES.retryMs)
  expect(log).toEqual(['a leads'])
})

test('a leader whose Lease another client has taken gives up, and leads again when that one does not renew it', async () => {
  compete('a')
  await pass(STEP_MS)
  await serverObjects(world.context).change(leases(), 'kube-system', 'controllers', old => ({
    ...old,
    spec: { ...objectAt(old, 'spec'), holderIdentity: 'thief', leaseDurationSeconds: 1 },
  }))
  await pass(2 * TIMES.retryMs)
  expect(log).toEqual(['a leads', 'a lost'])
  await pass(1000 + 2 * TIMES.retryMs)
  expect(log).toEqual(['a leads', 'a lost', 'a leads'])
})

describe('a Lease that was deleted', () => {
  async function deleteLease(): Promise<void> {
    const { revision } = (await world.context.objectStore(leases()).get('kube-system', 'controllers'))!
    await world.context.objectStore(leases()).delete('kube-system', 'controllers', revision)
  }

  test('is created again by its leader, and by no other replica while that one leads', async () => {
    compete('a')
    await pass(TIMES.retryMs / 2)
    // It looks between the renewals of the leader, and sees first that the Lease is gone.
    compete('b')
    await pass(STEP_MS)
    for (let i = 0; i < 3; i++) {
      await deleteLease()
      await pass(4 * TIMES.retryMs)
    }
    expect(log).toEqual(['a leads'])
    expect((await lease())['holderIdentity']).toBe('a')
  })

  test('is created by another replica if its leader is gone, too', async () => {
    const link = breakable()
    compete('a', link.context)
    await pass(STEP_MS)
    compete('b')
    await pass(2 * TIMES.retryMs)
    link.isCut = true
    await deleteLease()
    await pass(TIMES.renewDeadlineMs)
    expect(log).toEqual(['a leads', 'a lost'])
    await pass(1000 + 2 * TIMES.retryMs)
    expect(log).toEqual(['a leads', 'a lost', 'b leads'])
  })
})

test('controllers start on the leader only, and again when it leads again', async () => {
  const elected: { leading(): void; lost(): void }[] = []
  const controllers = (replica: string) => [
    {
      name: 'led',
      async start() {
        log.push(`${replica} starts`)
        return { idle: async () => {}, stop: () => void log.push(`${replica} stops`) }
      },
    },
    { name: 'own', onEveryReplica: true, start: () => void log.push(`${replica} itself`) },
  ]
  const runners = ['a', 'b'].map(replica =>
    runControllers(controllers(replica), quietEnv(), callbacks => {
      elected.push(callbacks)
      return { stop: async () => {} }
    }),
  )
  await turn()
  expect(log).toEqual(['a itself', 'b itself'])
  elected[0]!.leading()
  // Lost while the controllers are starting: they stop as soon as they have started.
  elected[0]!.lost()
  elected[1]!.leading()
  await vi.waitFor(() => expect(log.slice(2).toSorted()).toEqual(['a starts', 'a stops', 'b starts']))
  elected[1]!.lost()
  elected[1]!.leading()
  await vi.waitFor(() => expect(log.slice(5)).toEqual(['b stops', 'b starts']))
  await Promise.all(runners.map(runner => runner.stop()))
  expect(log.slice(7)).toEqual(['b stops'])
})
