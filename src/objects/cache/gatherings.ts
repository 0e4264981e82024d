// Lists that are kept are gathered while they are sent. A client may stop reading then, and many may, so that what is
// gathered has a bound for all of them: the list gives up to which nothing was added for longest.

/** What a response has gathered. */
export interface Gathering {
  /** So many bytes more. May drop this or others. */
  add(bytes: number): void
  end(): void
}

export interface Gatherings {
  /**
   * Undefined if another response gathers the same list. `drop` is called when nothing is to be gathered any more; it
   * says whether the list itself is too large.
   */
  begin(list: object, drop: (isTooLarge: boolean) => void): Gathering | undefined
}

interface Active {
  readonly list: object
  readonly drop: (isTooLarge: boolean) => void
  bytes: number
  /** When something was last added. */
  addedAt: number
}

/** After so long without an addition, the client does not read, and another response may gather the list. */
const STALL_MS = 500

export function createGatherings(maxBytes: number, now = (): number => performance.now()): Gatherings {
  /** The one first to which nothing was added for longest. */
  const active = new Set<Active>()
  const byList = new Map<object, Active>()
  let total = 0

  function remove(each: Active): boolean {
    if (!active.delete(each)) return false
    byList.delete(each.list)
    total -= each.bytes
    return true
  }

  function drop(each: Active, isTooLarge: boolean): void {
    if (remove(each)) each.drop(isTooLarge)
  }

  return {
    begin(list, onDrop) {
      const other = byList.get(list)
      if (other && now() - other.addedAt < STALL_MS) return undefined
      if (other) drop(other, false)
      const own: Active = { list, drop: onDrop, bytes: 0, addedAt: now() }
      active.add(own)
      byList.set(list, own)
      return {
        add(bytes) {
          if (!active.delete(own)) return
          active.add(own)
          own.addedAt = now()
          own.bytes += bytes
          total += bytes
          if (own.bytes > maxBytes) drop(own, true)
          for (const each of active) {
            if (total <= maxBytes) break
            drop(each, false)
          }
        },
        end: () => void remove(own),
      }
    },
  }
}
