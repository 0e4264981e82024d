// The last requests, with their users and why they were allowed or refused: a ring of records, so that a request costs one
// small object. Nothing of a request is kept that a client can make large.

import type { ServedRequest } from '../../http/handler.js'

export interface RecentRequest {
  /** Counted from 1. */
  readonly seq: number
  /** Milliseconds, when it was answered. */
  readonly at: number
  readonly milliseconds: number
  readonly status: number
  readonly method: string
  readonly verb: string
  readonly path: string
  readonly query: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly user: string
  readonly groups: readonly string[]
  /** The authenticated user, if another one was impersonated. */
  readonly impersonator: string
  readonly decision: 'allow' | 'forbid' | 'none'
  readonly reason: string
  readonly userAgent: string
  readonly auditId: string
}

export interface RecentRequests {
  readonly add: (request: ServedRequest, status: number, milliseconds: number) => void
  /** Those after a sequence number that are still there, oldest first. */
  after(seq: number): readonly RecentRequest[]
  /** How many there were. */
  readonly count: number
}

const SIZE = 1000
const MAX_TEXT = 500
const MAX_GROUPS = 50
const NONE: readonly string[] = []

export function createRecentRequests(now: () => number = Date.now, size = SIZE): RecentRequests {
  const ring: RecentRequest[] = []
  let count = 0
  return {
    add(request, status, milliseconds) {
      const { info, user, impersonator, decision, exchange } = request
      // Parts of a long path would keep all of it in memory.
      const isShort = info.path.length <= MAX_TEXT
      const record: RecentRequest = {
        seq: ++count,
        at: now(),
        milliseconds,
        status,
        method: bounded(exchange.method),
        verb: bounded(info.verb),
        path: bounded(info.path),
        query: bounded(exchange.query),
        group: isShort ? info.group : '',
        resource: isShort ? info.resource : '',
        subresource: isShort ? info.subresource : '',
        namespace: isShort ? info.namespace : '',
        name: isShort ? info.name : '',
        user: bounded(user.name),
        groups: boundedList(user.groups),
        impersonator: bounded(impersonator?.name ?? ''),
        decision: decision === undefined ? 'none' : decision.allowed ? 'allow' : 'forbid',
        reason: bounded(decision?.reason ?? ''),
        userAgent: bounded(request.userAgent),
        auditId: bounded(request.auditId),
      }
      ring[(count - 1) % size] = record
    },
    after(seq) {
      const kept = Math.min(count, size)
      const first = Math.max(seq, count - kept, 0)
      return Array.from({ length: Math.max(0, count - first) }, (_, i) => ring[(first + i) % size]!)
    },
    get count() {
      return count
    },
  }
}

/** The lists of most users are kept as they are, without a copy. */
function boundedList(texts: readonly string[]): readonly string[] {
  if (texts.length === 0) return NONE
  const isBounded = texts.length <= MAX_GROUPS && texts.every(({ length }) => length <= MAX_TEXT)
  return isBounded ? texts : texts.slice(0, MAX_GROUPS).map(bounded)
}

/** A copy: a part of a string keeps all of it in memory. */
const bounded = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${Buffer.from(text.slice(0, MAX_TEXT)).toString()}…`
