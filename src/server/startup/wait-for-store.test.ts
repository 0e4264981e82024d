import { expect, test } from 'vitest'
import { createLogger, type LogLine } from '../../base/logger.js'
import { notFound, serviceUnavailable, timeout } from '../../meta/errors/status.js'
import { StorageError } from '../../storage/storage-error.js'
import { startWhenStoreAnswers } from './wait-for-store.js'

/** A start that fails with each of the errors in turn, and then succeeds. */
function startAfter(errors: readonly Error[], limitMs: number, signal?: AbortSignal) {
  const lines: LogLine[] = []
  const log = createLogger(line => void lines.push(line))
  let attempt = 0
  const start = async () => {
    const error = errors[attempt++]
    if (error) throw error
    return attempt
  }
  return { started: startWhenStoreAnswers(start, { limitMs, log, signal }), lines, attempts: () => attempt }
}

test('a start is tried again while the store does not answer, and the log has the reason', async () => {
  const { started, lines } = startAfter([new StorageError('unavailable', 'no connection'), timeout('late', 1)], 60_000)
  expect(await started).toBe(3)
  expect(lines.map(({ level, fields }) => [level, fields['reason']])).toEqual([
    ['warn', 'no connection'],
    ['warn', 'Timeout: late'],
  ])
})

test('after the time limit, the error says in one line what was waited for', async () => {
  const { started } = startAfter([serviceUnavailable('etcd cannot answer: no leader', 1)], 0)
  await expect(started).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the server did not start within 0 s: etcd cannot answer: no leader',
  })
})

test.each([
  ['an error of another cause', new StorageError('corrupt', 'broken')],
  ['an error of the API', notFound({ group: '', resource: 'namespaces' }, 'a')],
])('%s ends the start at once', async (_, error) => {
  const { started, attempts } = startAfter([error], 60_000)
  await expect(started).rejects.toBe(error)
  expect(attempts()).toBe(1)
})

test('an abort ends the wait', async () => {
  const controller = new AbortController()
  const { started } = startAfter([new StorageError('unavailable', 'no connection')], 60_000, controller.signal)
  setTimeout(() => controller.abort(), 5)
  await expect(started).rejects.toThrow('aborted')
})
