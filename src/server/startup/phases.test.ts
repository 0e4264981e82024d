import { expect, test } from 'vitest'
import { NO_LOGGER } from '../../base/logger.js'
import { createPhases } from './phases.js'

test('phases are undone in the reverse order, once', async () => {
  const order: string[] = []
  const phases = createPhases(NO_LOGGER, undefined)
  expect(
    await phases.run(
      'a',
      () => 1,
      result => void order.push(`undo ${result}`),
    ),
  ).toBe(1)
  await phases.run(
    'b',
    async () => 2,
    async result => void order.push(`undo ${result}`),
  )
  await expect(
    phases.run(
      'c',
      () => Promise.reject(new Error('no port')),
      () => void order.push('never'),
    ),
  ).rejects.toThrow('no port')
  await Promise.all([phases.undo(), phases.undo()])
  expect(order).toEqual(['undo 2', 'undo 1'])
})

test('an abort ends the running phase, and what that opens later is closed', async () => {
  const order: string[] = []
  const controller = new AbortController()
  const phases = createPhases(NO_LOGGER, controller.signal)
  let open: (store: string) => void = () => {}
  const running = phases.run(
    'open the store',
    () => new Promise<string>(resolve => (open = resolve)),
    store => void order.push(`close ${store}`),
  )
  await Promise.resolve()
  controller.abort()
  setTimeout(() => open('store'), 10)
  await expect(running).rejects.toThrow('aborted')
  expect(order).toEqual(['close store'])
  await expect(phases.run('next', () => order.push('next'))).rejects.toThrow('aborted')
  expect(order).toHaveLength(1)
})
