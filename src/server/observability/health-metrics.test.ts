import { expect, test } from 'vitest'
import { healthPaths } from '../../http/pages.js'
import type { PathRequest } from '../../http/serve/paths.js'
import { createHealthMetrics } from './health-metrics.js'

const request = (found: { text: string }, query = ''): PathRequest =>
  ({
    info: { query: new URLSearchParams(query) },
    reply: {
      exchange: { method: 'GET' },
      text: (_: number, text: string) => void (found.text = text),
      send: (_: number, __: unknown, text: string) => void (found.text = text),
    },
  }) as unknown as PathRequest

test('the latest result of a check is shown, and how often it was which', async () => {
  const metrics = createHealthMetrics(undefined)
  let fails = true
  const check = async () => {
    if (fails) throw new Error('away')
  }
  const [, readyz] = healthPaths('/readyz', { etcd: check }, metrics.observer('readyz'))[0]!
  const answer = { text: '' }
  await readyz(request(answer))
  await metrics.page(request(answer))
  expect(answer.text).toContain('kubernetes_healthcheck{name="etcd",type="readyz"} 0\n')
  fails = false
  await readyz(request(answer))
  await readyz(request(answer, 'exclude=etcd'))
  await metrics.page(request(answer))
  expect(answer.text).toContain('kubernetes_healthcheck{name="etcd",type="readyz"} 1\n')
  expect(answer.text).toContain('kubernetes_healthchecks_total{name="etcd",status="error",type="readyz"} 1\n')
  expect(answer.text).toContain('kubernetes_healthchecks_total{name="etcd",status="success",type="readyz"} 1\n')
  expect(answer.text).toMatch(/^process_start_time_seconds [0-9.e+]+$/m)
})

test('metrics that are disabled are not shown', async () => {
  const metrics = createHealthMetrics({ disabled: new Set(['kubernetes_healthchecks_total']) })
  metrics.observer('livez')('ping', true)
  const answer = { text: '' }
  await metrics.page(request(answer))
  expect(answer.text).toContain('kubernetes_healthcheck{name="ping",type="livez"} 1\n')
  expect(answer.text).not.toContain('healthchecks_total')
})
