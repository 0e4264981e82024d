import { afterEach, expect, test, vi } from 'vitest'
import { createWorld } from '../../verbs/api-world.suite.js'
import { quietEnv } from '../common/controller.js'
import { startEventExpiry } from './events.js'
import { startTtlAfterFinished } from './finished-jobs.js'

const EPOCH = Date.parse('2026-01-01T00:00:00Z')

afterEach(() => vi.useRealTimers())

test('a finished Job is deleted after its time to live; one that runs or has none stays', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: EPOCH })
  const world = createWorld()
  const jobs = world.registry.findKind('batch', 'Job')!
  await world.createNamespace('n')
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
  const job = (name: string, ttl?: number) =>
    world.create(
      jobs,
      'n',
      name,
      {},
      { spec: { template, ...(ttl !== undefined && { ttlSecondsAfterFinished: ttl }) } },
    )
  await job('done', 60)
  await job('running', 60)
  await job('kept')
  const controller = await startTtlAfterFinished(world.context, jobs, quietEnv())
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  for (const name of ['done', 'kept']) {
    const conditions = ['SuccessCriteriaMet', 'Complete'].map(type => ({ type, status: 'True', lastTransitionTime }))
    const times = { startTime: lastTransitionTime, completionTime: lastTransitionTime }
    await world.setStatus(jobs, 'n', name, { conditions, ...times })
  }
  await controller.idle()
  expect(await world.find(jobs, 'n', 'done')).toBeDefined()
  await vi.advanceTimersByTimeAsync(61_000)
  await controller.idle()
  const done = await world.find(jobs, 'n', 'done')
  expect(done === undefined || done.metadata['deletionTimestamp'] !== undefined).toBe(true)
  for (const name of ['running', 'kept']) {
    expect((await world.find(jobs, 'n', name))!.metadata['deletionTimestamp']).toBeUndefined()
  }
  controller.stop()
})

test('an Event is deleted its time to live after it was last written', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: EPOCH })
  const world = createWorld()
  const events = world.registry.findKind('', 'Event')!
  await world.createNamespace('n')
  const event = (name: string) =>
    world.create(events, 'n', name, {}, { involvedObject: { namespace: 'n' }, reason: 'r', type: 'Normal' })
  await event('old')
  const controller = await startEventExpiry(world.context, events, 3_600_000, quietEnv())
  await vi.advanceTimersByTimeAsync(1_800_000)
  await event('young')
  await vi.advanceTimersByTimeAsync(1_801_000)
  await controller.idle()
  expect(await world.find(events, 'n', 'old')).toBeUndefined()
  expect(await world.find(events, 'n', 'young')).toBeDefined()
  await vi.advanceTimersByTimeAsync(1_801_000)
  await controller.idle()
  expect(await world.find(events, 'n', 'young')).toBeUndefined()
  controller.stop()
})
