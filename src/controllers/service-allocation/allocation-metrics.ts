// Metrics of the addresses and node ports of Services, by kube-apiserver's names: how many are in use and free, how often one
// was allocated or could not be, and how long an address took. `static`: the Service names it; `dynamic`: any will do.

import type { MetricsRegistry } from '../../base/metrics.js'
import type { PortRange } from '../../builtin/service-addresses.js'
import { type AddressPool, type AddressRange, canHave } from '../../builtin/service-addresses.js'

export interface AllocationState {
  ranges(): Promise<readonly AddressRange[]>
  /** All addresses in use. */
  addresses(): Promise<readonly string[]>
  ports(): Promise<ReadonlySet<number>>
  readonly nodePorts: PortRange
}

/** The same pool, which counts. */
export type MeasurePool = (pool: AddressPool) => AddressPool

const ADDRESSES = 'kube_apiserver_clusterip_allocator_'
const PORTS = 'kube_apiserver_nodeport_allocator_'
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function allocationMetrics(metrics: MetricsRegistry, state: AllocationState): MeasurePool {
  const allocated = metrics.counter(`${ADDRESSES}allocation_total`, 'Number of Cluster IPs allocations', [
    'cidr',
    'scope',
  ])
  const failures = metrics.counter(
    `${ADDRESSES}allocation_errors_total`,
    'Number of errors trying to allocate Cluster IPs',
    ['cidr', 'scope'],
  )
  const seconds = metrics.histogram(
    `${ADDRESSES}allocation_duration_seconds`,
    'Duration in seconds to allocate a Cluster IP by ServiceCIDR',
    ['cidr'],
    BUCKETS,
  )
  const allocatedPorts = metrics.counter(`${PORTS}allocation_total`, 'Number of NodePort allocations', ['scope'])
  const portFailures = metrics.counter(
    `${PORTS}allocation_errors_total`,
    'Number of errors trying to allocate NodePort',
    ['scope'],
  )
  registerGauges(metrics, state)

  return pool => ({
    ...pool,
    async takeAddress(family, address) {
      const start = performance.now()
      const result = await pool.takeAddress(family, address)
      const scope = address === undefined ? 'dynamic' : 'static'
      const found = result.ok ? result.value : address
      const range = (await state.ranges()).find(each =>
        found === undefined ? each.family === family : canHave(each, found),
      )
      if (range === undefined) return result
      if (result.ok) seconds.with(range.text).observe((performance.now() - start) / 1000)
      ;(result.ok ? allocated : failures).with(range.text, scope).inc()
      return result
    },
    async takeNodePort(port) {
      const result = await pool.takeNodePort(port)
      ;(result.ok ? allocatedPorts : portFailures).with(port === undefined ? 'dynamic' : 'static').inc()
      return result
    },
  })
}

/** These are counted for each page, since other servers on the store allocate too. */
function registerGauges(metrics: MetricsRegistry, state: AllocationState): void {
  const gauge = <const L extends readonly string[]>(prefix: string, name: string, what: string, labels: L) =>
    metrics.gauge(prefix + name, `Gauge measuring the number of ${what} for Services`, labels)
  const usedAddresses = gauge(ADDRESSES, 'allocated_ips', 'allocated IPs', ['cidr'])
  const freeAddresses = gauge(ADDRESSES, 'available_ips', 'available IPs', ['cidr'])
  const usedPorts = gauge(PORTS, 'allocated_ports', 'allocated NodePorts', [])
  const freePorts = gauge(PORTS, 'available_ports', 'available NodePorts', [])
  metrics.onCollect(async () => {
    const [ranges, addresses, ports] = await Promise.all([state.ranges(), state.addresses(), state.ports()])
    usedAddresses.reset()
    freeAddresses.reset()
    for (const range of ranges) {
      const used = addresses.filter(address => canHave(range, address)).length
      usedAddresses.with(range.text).set(used)
      freeAddresses.with(range.text).set(Number(range.usable) - used)
    }
    const { from, to } = state.nodePorts
    usedPorts.with().set(ports.size)
    freePorts.with().set(to - from + 1 - ports.size)
  })
}
