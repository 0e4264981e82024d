// Metrics of the process, by the names that Prometheus' client libraries use.
import { readdir, readFile } from 'node:fs/promises'
import type { MetricsRegistry } from '../../base/metrics.js'

export function registerProcessMetrics(metrics: MetricsRegistry): void {
  const gauge = (name: string, help: string) => metrics.gauge(name, help, []).with()
  const counter = (name: string, help: string) => metrics.counter(name, help, []).with()
  const cpu = counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.')
  const resident = gauge('process_resident_memory_bytes', 'Resident memory size in bytes.')
  const started = gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.')
  const heapUsed = gauge('nodejs_heap_size_used_bytes', 'Memory of JavaScript objects.')
  const heapTotal = gauge('nodejs_heap_size_total_bytes', 'Memory that is reserved for JavaScript objects.')
  const external = gauge('nodejs_external_memory_bytes', 'Memory of buffers.')
  const busy = gauge('nodejs_eventloop_utilization', 'The part of the time in which the event loop was busy.')
  let counted = 0
  started.set(Date.now() / 1000 - process.uptime())
  metrics.onCollect(() => {
    const { user, system } = process.cpuUsage()
    const memory = process.memoryUsage()
    const seconds = (user + system) / 1e6
    cpu.inc(seconds - counted)
    counted = seconds
    resident.set(memory.rss)
    heapUsed.set(memory.heapUsed)
    heapTotal.set(memory.heapTotal)
    external.set(memory.external)
    busy.set(performance.eventLoopUtilization().utilization)
  })
  // Other systems do not have these figures.
  if (process.platform === 'linux') registerLinuxMetrics(metrics)
}

function registerLinuxMetrics(metrics: MetricsRegistry): void {
  const openFiles = metrics.gauge('process_open_fds', 'Number of open file descriptors.', [])
  const maxFiles = metrics.gauge('process_max_fds', 'Maximum number of open file descriptors.', [])
  const virtual = metrics.gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', [])
  const maxVirtual = metrics.gauge(
    'process_virtual_memory_max_bytes',
    'Maximum amount of virtual memory available in bytes.',
    [],
  )
  const network = (name: string, what: string) =>
    metrics.setCounter(
      `process_network_${name}_bytes_total`,
      `Number of bytes ${what} by the process over the network.`,
      [],
    )
  const received = network('receive', 'received')
  const sent = network('transmit', 'sent')
  metrics.onCollect(async () => {
    const [names, limits, status, traffic] = await Promise.all([
      readdir('/proc/self/fd'),
      readFile('/proc/self/limits', 'utf8'),
      readFile('/proc/self/status', 'utf8'),
      readFile('/proc/self/net/netstat', 'utf8'),
    ])
    openFiles.with().set(names.length)
    const limitOf = (name: string, unlimited: number): number => {
      const limit = new RegExp(`^${name} +(\\S+)`, 'm').exec(limits)?.[1]
      return limit === 'unlimited' ? unlimited : Number(limit ?? 0)
    }
    maxFiles.with().set(limitOf('Max open files', Infinity))
    // Of the network namespace, as in kube-apiserver.
    const octets = octetsIn(traffic)
    received.with().set(octets.in)
    sent.with().set(octets.out)
    // Without a limit, Prometheus' libraries print the largest number of 64 bits.
    maxVirtual.with().set(limitOf('Max address space', 2 ** 64))
    virtual.with().set(Number(/^VmSize:\s+([0-9]+) kB/m.exec(status)?.[1] ?? 0) * 1024)
  })
}

/** The file has a line of names and a line of values for each protocol. */
function octetsIn(netstat: string): { readonly in: number; readonly out: number } {
  const [names = [], values = []] = netstat
    .split('\n')
    .filter(line => line.startsWith('IpExt:'))
    .map(line => line.split(' '))
  const valueOf = (name: string): number => Number(values[names.indexOf(name)] ?? 0)
  return { in: valueOf('InOctets'), out: valueOf('OutOctets') }
}
