import { expect, test } from 'vitest'
import { NO_LOGGER } from '../../base/logger.js'
import { createMetrics } from '../../base/metrics.js'
import { truncated } from './truncate.js'
import { type AuditWebhookOptions, openAuditWebhook } from './webhook.js'

const CONFIG = { url: 'https://audit.example.com' } as never
const eventOf = (auditID: string, more: object = {}): string =>
  `${JSON.stringify({ kind: 'Event', apiVersion: 'audit.k8s.io/v1', level: 'Request', auditID, ...more })}\n`

function setUp(options: Partial<AuditWebhookOptions['batch']> = {}, maxBatchBytes?: number) {
  const bodies: string[] = []
  const state = { failures: 0, answered: Promise.resolve() }
  const metrics = createMetrics()
  const sender = openAuditWebhook(
    {
      target: async () => CONFIG,
      batch: { bufferSize: 10, maxSize: 2, maxWaitMs: 60_000, throttle: undefined, ...options },
      initialBackoffMs: 1,
      truncate: maxBatchBytes === undefined ? undefined : { maxEventBytes: maxBatchBytes, maxBatchBytes },
    },
    {
      webhooks: {
        async post(_config, body) {
          await state.answered
          if (state.failures-- > 0) throw new Error('not now')
          bodies.push(body)
          return Buffer.alloc(0)
        },
      },
      metrics,
      log: NO_LOGGER,
      random: () => 0,
    },
  )
  const idsOf = (body: string): string[] =>
    (JSON.parse(body) as { items: { auditID: string }[] }).items.map(({ auditID }) => auditID)
  const lost = async (plugin: string): Promise<number> => {
    const samples = (await metrics.read('apiserver_audit_error_total')).get('apiserver_audit_error_total')!
    return samples.find(({ labels }) => labels['plugin'] === plugin)?.value ?? 0
  }
  return { sender, bodies, state, metrics, lost, sent: () => bodies.map(idsOf) }
}

test('a full batch is sent at once, as a list whose events do not say their kind', async () => {
  const { sender, bodies, sent } = setUp()
  for (const id of ['a', 'b', 'c']) sender.write(eventOf(id))
  await expect.poll(sent).toEqual([['a', 'b']])
  expect(JSON.parse(bodies[0]!)).toEqual({
    kind: 'EventList',
    apiVersion: 'audit.k8s.io/v1',
    metadata: {},
    items: [
      { level: 'Request', auditID: 'a' },
      { level: 'Request', auditID: 'b' },
    ],
  })
  await sender.close()
  expect(sent()).toEqual([['a', 'b'], ['c']])
})

test('what waits is sent after a time', async () => {
  const { sender, sent } = setUp({ maxWaitMs: 1 })
  sender.write(eventOf('a'))
  await expect.poll(sent).toEqual([['a']])
  await sender.close()
})

test('a webhook that fails is called again', async () => {
  const { sender, sent, state, lost } = setUp()
  state.failures = 4
  for (const id of ['a', 'b']) sender.write(eventOf(id))
  await expect.poll(sent).toEqual([['a', 'b']])
  expect(await lost('webhook')).toBe(0)
  await sender.close()
})

test('after five tries events are lost, and counted', async () => {
  const { sender, sent, state, lost } = setUp()
  state.failures = 5
  for (const id of ['a', 'b']) sender.write(eventOf(id))
  await expect.poll(() => lost('webhook')).toBe(2)
  expect(sent()).toEqual([])
  await sender.close()
})

test('events that the buffer cannot hold are lost, and counted', async () => {
  const { sender, lost } = setUp({ bufferSize: 2, throttle: { qps: 0.001, burst: 1 } })
  for (let i = 0; i < 8; i++) sender.write(eventOf(String(i)))
  expect(await lost('buffered')).toBeGreaterThan(0)
  await sender.close()
})

test('events of very many bytes are lost, also while others are being sent', async () => {
  const { sender, state, sent, lost } = setUp({ bufferSize: 100, maxSize: 1, maxKept: 10_500 })
  let answer = (): void => {}
  state.answered = new Promise(resolve => (answer = resolve))
  const padding = 'x'.repeat(1_000)
  for (let i = 0; i < 12; i++) sender.write(eventOf(String(i), { requestObject: { padding } }))
  expect(await lost('buffered')).toBe(3)
  answer()
  await expect.poll(() => sent().length).toBe(9)
  sender.write(eventOf('later'))
  await expect.poll(() => sent().at(-1)).toEqual(['later'])
  expect(await lost('buffered')).toBe(3)
  await sender.close()
})

test('a batch that is too large is sent in parts', async () => {
  const { sender, sent } = setUp({ maxSize: 3 }, 40)
  for (const id of ['a', 'b', 'c']) sender.write(eventOf(id))
  await expect.poll(sent).toEqual([['a'], ['b'], ['c']])
  await sender.close()
})

test('events that are too large are sent without their objects, or not at all', async () => {
  const lines: string[] = []
  const metrics = createMetrics()
  const options = { maxEventBytes: 200, maxBatchBytes: 1000 }
  const sink = truncated({ write: line => lines.push(line) > 0 }, options, metrics)
  sink.write(eventOf('small'))
  sink.write(eventOf('large', { requestObject: { data: 'x'.repeat(200) }, annotations: { a: 'b' } }))
  sink.write(eventOf('x'.repeat(200)))
  expect(lines.map(line => JSON.parse(line) as object)).toEqual([
    JSON.parse(eventOf('small')),
    JSON.parse(eventOf('large', { annotations: { a: 'b', 'audit.k8s.io/truncated': 'true' } })),
  ])
  expect((await metrics.read('apiserver_audit_error_total')).get('apiserver_audit_error_total')).toMatchObject([
    { labels: { plugin: 'truncate' }, value: 1 },
  ])
})
