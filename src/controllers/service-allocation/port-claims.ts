// The node ports in use, in one entry of the store as in Kubernetes: a RangeAllocation whose data has a bit for each port
// of the range. Changes are compare-and-set, so that any number of processes can share it. Those of one process that come
// while a write is under way are written together by the next one: each alone would make the others lose.
import { type Claims, NODE_PORTS, type PortRange, parsePortRange } from '../../builtin/service-addresses.js'
import { decodeJson, encodeJson } from '../../codec/json.js'
import { stringAt } from '../../meta/values/access.js'
import { isObject } from '../../meta/values/value.js'
import type { Entry, Store } from '../../storage/store.js'

export const PORTS_PREFIX = '/ranges/'
export const PORTS_KEY = `${PORTS_PREFIX}servicenodeports`

export interface PortClaims extends Claims<number> {
  has(port: number): Promise<boolean>
  /** The ports that are taken according to the entry. */
  takenIn(entry: Entry | undefined): Set<number>
  /** Sets the ports in use; or adds them, if other processes may claim ports at the same time. */
  reset(ports: ReadonlySet<number>, isComplete: boolean): Promise<void>
  /** Releases ports unless any port was claimed or released since the entry was read. */
  releaseAt(entry: Entry, ports: readonly number[]): Promise<void>
}

/** The ports that are taken after a change, as bits. */
type Wanted = (taken: bigint) => bigint

interface Waiting {
  readonly wanted: Wanted
  resolve(isChanged: boolean): void
  reject(error: unknown): void
}

export function portClaims(store: Store, range: PortRange = NODE_PORTS): PortClaims {
  let waiting: Waiting[] = []
  let isWriting = false

  /** Resolves with whether anything had to change, after it is stored. */
  const change = (wanted: Wanted): Promise<boolean> =>
    new Promise((resolve, reject) => {
      waiting.push({ wanted, resolve, reject })
      if (!isWriting) void writeAll()
    })

  async function writeAll(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      try {
        const changed = await write(group)
        group.forEach(({ resolve }, index) => resolve(changed[index]!))
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    isWriting = false
  }

  /** Makes the changes one after the other in one write; for each, whether it changed anything. */
  async function write(group: readonly Waiting[]): Promise<boolean[]> {
    for (;;) {
      const entry = await store.get(PORTS_KEY)
      const before = entry ? bitsIn(entry, range) : 0n
      let taken = before
      const changed = group.map(({ wanted }) => {
        const last = taken
        taken = wanted(last)
        return taken !== last
      })
      if (taken === before) return changed
      const value = Buffer.from(encodeTaken(taken, range))
      const { done } = await (entry ? store.update(PORTS_KEY, value, entry.revision) : store.create(PORTS_KEY, value))
      if (done) return changed
    }
  }

  return {
    async has(port) {
      const entry = await store.get(PORTS_KEY)
      return entry !== undefined && (bitsIn(entry, range) & bitOf(port, range)) !== 0n
    },
    takenIn(entry) {
      const ports = new Set<number>()
      let port = range.from
      for (let rest = entry ? bitsIn(entry, range) : 0n; rest !== 0n; rest >>= 1n, port++)
        if (rest & 1n) ports.add(port)
      return ports
    },
    claim: port => change(taken => taken | bitOf(port, range)),
    async release(port) {
      await change(taken => taken & ~bitOf(port, range))
    },
    async releaseAt(entry, ports) {
      const released = ports.reduce((bits, port) => bits | bitOf(port, range), 0n)
      await store.update(PORTS_KEY, Buffer.from(encodeTaken(bitsIn(entry, range) & ~released, range)), entry.revision)
    },
    async reset(ports, isComplete) {
      const wanted = [...ports].reduce((bits, port) => bits | bitOf(port, range), 0n)
      await change(taken => (isComplete ? wanted : taken | wanted))
    },
  }
}

/** Ports outside the range are not tracked. */
const bitOf = (port: number, { from, to }: PortRange): bigint =>
  port < from || port > to ? 0n : 1n << BigInt(port - from)

/** The entry may be of another range: that of an earlier start. */
function bitsIn({ value }: Entry, { from, to }: PortRange): bigint {
  const { value: object } = decodeJson(value)
  if (!isObject(object)) return 0n
  const hex = Buffer.from(stringAt(object, 'data'), 'base64').toString('hex')
  const bits = hex === '' ? 0n : BigInt(`0x${hex}`)
  const stored = parsePortRange(stringAt(object, 'range'))
  if (!stored || (stored.from === from && stored.to === to)) return bits
  const shift = BigInt(stored.from - from)
  return BigInt.asUintN(to - from + 1, shift < 0n ? bits >> -shift : bits << shift)
}

function encodeTaken(taken: bigint, { from, to }: PortRange): string {
  const hex = taken.toString(16)
  const data = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64')
  return encodeJson({ kind: 'RangeAllocation', apiVersion: 'v1', metadata: {}, range: `${from}-${to}`, data })
}
