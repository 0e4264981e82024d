// Limits the bodies that are on their way to the server: how many, and how many bytes of them have arrived. A client that
// sends slowly, or not at all, keeps only such a place, and none among the requests that are served. One user cannot take
// all places.

import type { UserInfo } from '../../request/user-info.js'

export interface ArrivingBodyLimits {
  readonly maxBodies: number
  readonly maxBodiesByUser: number
  readonly maxBytes: number
  readonly maxBytesByUser: number
}

export const ARRIVING_BODY_LIMITS: ArrivingBodyLimits = {
  maxBodies: 4_000,
  maxBodiesByUser: 1_000,
  maxBytes: 256 * 1024 * 1024,
  maxBytesByUser: 128 * 1024 * 1024,
}

export interface ArrivingBodies {
  /** Undefined if there are too many. */
  enter(user: UserInfo): ArrivingBody | undefined
  readonly count: number
}

export interface ArrivingBody {
  /** So many bytes more have arrived; false if they are too many. */
  grow(bytes: number): boolean
  /** The body is there, or will not come. */
  leave(): void
}

export function createArrivingBodies(limits: ArrivingBodyLimits = ARRIVING_BODY_LIMITS): ArrivingBodies {
  const all = { bodies: 0, bytes: 0 }
  const byUser = new Map<string, { bodies: number; bytes: number }>()
  return {
    enter({ name }) {
      let own = byUser.get(name)
      if (all.bodies >= limits.maxBodies || (own && own.bodies >= limits.maxBodiesByUser)) return undefined
      if (!own) byUser.set(name, (own = { bodies: 0, bytes: 0 }))
      const counts = [all, own]
      let arrived = 0
      let isOver = false
      for (const count of counts) count.bodies++
      return {
        grow(bytes) {
          arrived += bytes
          for (const count of counts) count.bytes += bytes
          return all.bytes <= limits.maxBytes && own.bytes <= limits.maxBytesByUser
        },
        leave() {
          if (isOver) return
          isOver = true
          for (const count of counts) {
            count.bodies--
            count.bytes -= arrived
          }
          if (own.bodies === 0) byUser.delete(name)
        },
      }
    },
    get count() {
      return all.bodies
    },
  }
}
