import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { SYSTEM_CLOCK } from '../../base/clock.js'
import { builtinKindsWith } from '../../builtin/builtin-kinds.js'
import { objectAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { builtinTypes } from '../../types/type-table.js'
import { createWorld } from '../../verbs/api-world.suite.js'
import { serverObjects } from '../../verbs/system-writes.js'
import { type Controller, quietEnv } from '../common/controller.js'
import { startCandidateCollector, startCoordinatedElection } from './coordinated-election.js'

const START = Date.parse('2026-01-01T00:00:00Z')
let running: Controller | undefined
afterEach(() => running?.stop())

/** Time stands still until `pass`. */
async function world() {
  let now = START
  let timers: { at: number; call: () => void }[] = []
  const clock = {
    ...SYSTEM_CLOCK,
    now: () => now,
    after(ms: number, call: () => void) {
      const timer = { at: now + ms, call }
      timers.push(timer)
      return () => void (timers = timers.filter(each => each !== timer))
    },
  }
  const made = createWorld(() => now)
  await made.createNamespace('default')
  // Without its gate a Lease has no strategy.
  for (const kind of builtinKindsWith(builtinTypes(), { featureGates: { CoordinatedLeaderElection: true } })) {
    made.registry.put(kind)
  }
  const kinds = {
    leases: made.registry.findKind('coordination.k8s.io', 'Lease')!,
    candidates: made.registry.findKind('coordination.k8s.io', 'LeaseCandidate')!,
  }
  const env = quietEnv(clock)
  const objects = serverObjects(made.context)
  const change = (kind: typeof kinds.leases, name: string, changes: ValueObject) =>
    objects.change(kind, 'default', name, old => ({ ...old, spec: { ...objectAt(old, 'spec'), ...changes } }))
  /** The spec of the Lease once there is nothing to do. */
  async function lease(): Promise<unknown> {
    await nextTurn()
    await running!.idle()
    return (await made.find(kinds.leases, 'default', 'l'))?.['spec']
  }
  const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 23)}000Z`
  return {
    ...made,
    kinds,
    env,
    candidate: (name: string, emulationVersion: string, more: ValueObject = {}) =>
      made.create(
        kinds.candidates,
        'default',
        name,
        {},
        {
          spec: {
            leaseName: 'l',
            binaryVersion: '1.36.0',
            emulationVersion,
            strategy: 'OldestEmulationVersion',
            renewTime: timeOf(now),
            ...more,
          },
        },
      ),
    answer: (name: string) => change(kinds.candidates, name, { renewTime: timeOf(now) }),
    pass(ms: number) {
      now += ms
      const due = timers.filter(({ at }) => at <= now)
      timers = timers.filter(({ at }) => at > now)
      for (const { call } of due) call()
    },
    async start() {
      running = await startCoordinatedElection(made.context, kinds, env)
      return lease()
    },
    lease,
    spec: async (name: string) => {
      await running!.idle()
      return objectAt((await made.find(kinds.candidates, 'default', name))!, 'spec')
    },
  }
}

test('the candidate of the oldest release becomes the holder', async () => {
  const { candidate, start } = await world()
  await candidate('new', '1.36.0')
  await candidate('old', '1.35.0')
  await candidate('elsewhere', '1.33.0', { leaseName: 'other' })
  expect(await start()).toEqual({
    holderIdentity: 'old',
    strategy: 'OldestEmulationVersion',
    leaseDurationSeconds: 5,
    renewTime: '2026-01-01T00:00:00.000000Z',
  })
})

test('a better candidate is preferred, and holds the Lease once its holder is gone', async () => {
  const { candidate, start, lease, pass, answer } = await world()
  await candidate('new', '1.36.0')
  expect(await start()).toMatchObject({ holderIdentity: 'new' })
  await candidate('old', '1.35.0')
  expect(await lease()).toMatchObject({ holderIdentity: 'new', preferredHolder: 'old' })
  pass(6_000)
  // The new one is asked and does not answer.
  await answer('old')
  await lease()
  pass(6_000)
  await answer('old')
  const held = await lease()
  expect(held).toMatchObject({ holderIdentity: 'old', renewTime: '2026-01-01T00:00:12.000000Z' })
  expect(held).not.toHaveProperty('preferredHolder')
})

test('candidates that have been silent are asked before an election, and those that do not answer are passed over', async () => {
  const { candidate, start, lease, pass, answer, spec } = await world()
  await candidate('silent', '1.34.0')
  await candidate('old', '1.35.0')
  pass(60_000)
  expect(await start()).toBeUndefined()
  const asked = '2026-01-01T00:01:00.000000Z'
  expect([(await spec('silent'))['pingTime'], (await spec('old'))['pingTime']]).toEqual([asked, asked])
  pass(1_000)
  await answer('old')
  expect(await lease()).toBeUndefined()
  pass(4_000)
  expect(await lease()).toMatchObject({ holderIdentity: 'old' })
})

test('the newest programs decide the strategy; for one of others the Lease has no holder', async () => {
  const { candidate, start } = await world()
  await candidate('a', '1.35.0', { binaryVersion: '1.35.0' })
  await candidate('b', '1.36.0', { strategy: 'example.com/own' })
  const lease = await start()
  expect(lease).toMatchObject({ strategy: 'example.com/own' })
  expect(lease).not.toHaveProperty('holderIdentity')
})

test('without agreement there is no election', async () => {
  const { candidate, start } = await world()
  await candidate('a', '1.36.0')
  await candidate('b', '1.36.0', { strategy: 'example.com/own' })
  expect(await start()).toBeUndefined()
})

test('candidates that have been silent for half an hour are deleted', async () => {
  const { candidate, pass, find, kinds, context, env } = await world()
  await candidate('silent', '1.36.0')
  pass(20 * 60_000)
  await candidate('alive', '1.36.0')
  pass(11 * 60_000)
  running = startCandidateCollector(context, kinds.candidates, env)
  await running.idle()
  const found = await Promise.all(['silent', 'alive'].map(name => find(kinds.candidates, 'default', name)))
  expect(found.map(each => each !== undefined)).toEqual([false, true])
})
