import { expect, test } from 'vitest'
import { createMetrics } from '../../base/metrics.js'
import { registerProcessMetrics } from './process-metrics.js'

test.runIf(process.platform === 'linux')('the process has its usual metrics', async () => {
  const metrics = createMetrics()
  registerProcessMetrics(metrics)
  const page = await metrics.print()
  for (const name of [
    'open_fds',
    'max_fds',
    'virtual_memory_bytes',
    'virtual_memory_max_bytes',
    'cpu_seconds_total',
    'network_receive_bytes_total',
  ]) {
    const value = new RegExp(`^process_${name} (\\S+)$`, 'm').exec(page)?.[1]
    expect(value === '+Inf' ? Infinity : Number(value)).toBeGreaterThan(0)
  }
})
