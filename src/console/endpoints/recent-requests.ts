// The last requests, with their users and why they were allowed or refused: a ring of records. The texts of a request are
// kept as bytes: as strings, those of a thousand requests outlive each collection of new objects, which has to copy them,
// and that was a fifth of the processor time of a get. Nothing of a request is kept that a client can make large.

import type { ServedRequest } from '../../http/handler.js'
import { MalformedPath, parseRequestInfo, type RequestInfo } from '../../request/request-info.js'

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

/** What differs from request to request, cut off one character after the limit, and separated by a character that no header has. */
const TEXTS = 4
const SLOT = TEXTS * (MAX_TEXT + 2)
const SEPARATOR = '\n'

/** What requests have in common: texts and lists that are there anyway. */
interface Shared {
  milliseconds: number
  at: number
  status: number
  method: string
  verb: string
  user: string
  groups: readonly string[]
  impersonator: string
  decision: RecentRequest['decision']
  reason: string
  /** How long the texts of the request are. */
  length: number
}

export function createRecentRequests(now: () => number = Date.now, size = SIZE): RecentRequests {
  const ring: Shared[] = []
  const texts = Buffer.allocUnsafeSlow(size * SLOT)
  let count = 0

  function recordAt(i: number): RecentRequest {
    const at = i % size
    const { length, ...shared } = ring[at]!
    const text = texts.toString('latin1', at * SLOT, at * SLOT + length)
    const [sent, query, userAgent, auditId] = text.split(SEPARATOR) as [string, string, string, string]
    const { path, group, resource, subresource, namespace, name } = infoOf(shared.method, sent, query)
    return {
      ...shared,
      seq: i + 1,
      path: bounded(path),
      query: bounded(query),
      group,
      resource,
      subresource,
      namespace,
      name,
      userAgent: bounded(userAgent),
      auditId: bounded(auditId),
    }
  }

  return {
    add(request, status, milliseconds) {
      const { info, user, impersonator, decision, exchange } = request
      const at = count++ % size
      const target = cut(exchange.path) + SEPARATOR + cut(exchange.query)
      const sender = cut(request.userAgent) + SEPARATOR + cut(request.auditId)
      const record = (ring[at] ??= { ...EMPTY })
      record.milliseconds = milliseconds
      record.at = now()
      record.status = status
      record.method = bounded(exchange.method)
      record.verb = bounded(info.verb)
      record.user = bounded(user.name)
      record.groups = boundedList(user.groups)
      record.impersonator = bounded(impersonator?.name ?? '')
      record.decision = decision === undefined ? 'none' : decision.allowed ? 'allow' : 'forbid'
      record.reason = bounded(decision?.reason ?? '')
      record.length = texts.write(target + SEPARATOR + sender, at * SLOT, SLOT, 'latin1')
    },
    after(seq) {
      const kept = Math.min(count, size)
      const first = Math.max(seq, count - kept, 0)
      return Array.from({ length: Math.max(0, count - first) }, (_, i) => recordAt(first + i))
    },
    get count() {
      return count
    },
  }
}

const EMPTY: Shared = {
  milliseconds: 0.5,
  at: 0.5,
  status: 0,
  method: '',
  verb: '',
  user: '',
  groups: NONE,
  impersonator: '',
  decision: 'none',
  reason: '',
  length: 0,
}

const cut = (text: string): string => (text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT + 1))

/** What a path addresses; that is not known of one that was cut off, or that is none. */
function infoOf(
  method: string,
  path: string,
  query: string,
): Pick<RequestInfo, 'path' | 'group' | 'resource' | 'subresource' | 'namespace' | 'name'> {
  if (path.length <= MAX_TEXT) {
    try {
      return parseRequestInfo(method, path, query.length <= MAX_TEXT ? query : '')
    } catch (error) {
      if (!(error instanceof MalformedPath)) throw error
    }
  }
  return { path, group: '', resource: '', subresource: '', namespace: '', name: '' }
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
