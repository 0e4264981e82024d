import { expect, it } from 'vitest'
import { createCallQueues } from './call-queue.js'

function hanging() {
  let time = 0
  const queues = createCallQueues(() => time)
  const releases: (() => void)[] = []
  const call = () => new Promise<string>(resolve => void releases.push(() => resolve('done')))
  return {
    join: (webhook = 'a') => queues.join(webhook, call),
    releases,
    wait: (milliseconds: number) => {
      time += milliseconds
    },
  }
}

const REFUSED = '100 calls are waiting for an answer already'

it('allows any number of waiting calls to a webhook that responds', async () => {
  const { join, releases, wait } = hanging()
  const calls = Array.from({ length: 200 }, () => join())
  wait(6000)
  releases[0]!()
  await calls[0]
  const late = join()
  for (const release of releases) release()
  expect(await late).toBe('done')
  await Promise.all(calls)
})

it('refuses further calls when many wait for a webhook without a response', async () => {
  const { join, releases, wait } = hanging()
  const calls = Array.from({ length: 100 }, () => join())
  wait(5001)
  await expect(join()).rejects.toThrow(REFUSED)
  const other = join('b')
  for (const release of releases) release()
  expect(await other).toBe('done')
  await Promise.all(calls)
  const again = join()
  releases.at(-1)!()
  expect(await again).toBe('done')
})

it('does not count failed calls', async () => {
  const queues = createCallQueues(() => 0)
  const fail = () =>
    queues.join('a', async () => {
      throw new Error('no')
    })
  for (let i = 0; i < 300; i++) await expect(fail()).rejects.toThrow('no')
})
