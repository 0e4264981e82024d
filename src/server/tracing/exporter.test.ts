import { expect, test } from 'vitest'
import { NO_LOGGER } from '../../base/logger.js'
import type { FinishedSpan } from '../../base/tracing/span.js'
import { createSpanExporter } from './exporter.js'
import { startOtlpCollector } from './otlp-collector.suite.js'

const BATCH = 512

const span = (name: string, target = ''): FinishedSpan => ({
  context: { traceId: '0'.repeat(31) + '1', spanId: '0'.repeat(15) + '1', isSampled: true, state: '' },
  parent: undefined,
  isParentRemote: false,
  link: undefined,
  name,
  kind: 2,
  start: 1n,
  end: 2n,
  attributes: { 'http.target': target },
  events: [],
  isError: false,
})

test.each([
  ['refuses are dropped, and later ones are sent', 3, 1],
  ['could not take are sent again', 14, BATCH + 1],
])('spans that the collector %s', async (_, code, expected) => {
  const collector = await startOtlpCollector()
  collector.refusals.push(code)
  const exporter = createSpanExporter(collector, NO_LOGGER, undefined, 1)
  for (let i = 0; i < BATCH; i++) exporter.sink(span('first'))
  await expect.poll(() => collector.refusals).toEqual([])
  exporter.sink(span('later'))
  await expect.poll(() => collector.spans.length, { timeout: 15_000 }).toBe(expected)
  await exporter.close()
  collector.close()
})

test('the texts that clients have chosen are shortened', async () => {
  const collector = await startOtlpCollector()
  const exporter = createSpanExporter(collector, NO_LOGGER, undefined, 1)
  exporter.sink(span('long', 'ä'.repeat(1_000_000)))
  await exporter.close()
  expect(collector.spans.map(({ attributes }) => String(attributes['http.target']).length)).toEqual([16 * 1024])
  collector.close()
})
