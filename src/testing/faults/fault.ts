// A fault, and the requests that it is injected into.
import { refuseUnknownFields } from '../../base/known-fields.js'
import { nearest } from '../../base/nearest.js'
import { UsageError } from '../../base/usage-error.js'
import type { RequestInfo } from '../../request/request-info.js'
import { parseDuration } from '../clock.js'

/** Which requests; every field that is given must match, and a list matches any of its entries. */
export interface FaultMatch {
  /** get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verb?: string | readonly string[]
  /** The plural name of the resource: `configmaps`. */
  readonly resource?: string | readonly string[]
  /** The kind of the resource: `ConfigMap`. A subresource, such as a Scale, has that of its object. */
  readonly kind?: string | readonly string[]
  readonly group?: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
  readonly user?: string
}

export interface Fault extends FaultMatch {
  /**
   * Not a request but the calls of a webhook: its host, such as `checks.team.svc` or `127.0.0.1`, or `*` for all. It cannot be
   * reached, or with a `latency` answers late.
   */
  readonly webhook?: string
  /** How often, between 0 and 1; always by default. */
  readonly probability?: number
  /** How many times at most; without end by default. */
  readonly times?: number

  /** The request waits this long: milliseconds, or a text such as `2s`. */
  readonly latency?: number | string
  /** The request is refused: 409, 410, 429, 500, 503, 504. */
  readonly status?: number
  /** Seconds in the header Retry-After of a refusal. */
  readonly retryAfter?: number
  /** The connection is closed before or after the request takes effect. */
  readonly cut?: 'before' | 'after'
  /** A get or list is answered, and a watch begins, as of this resourceVersion: the server lags behind. */
  readonly asOf?: string
  /** The same, this many writes ago; writes of the server itself count, too. */
  readonly behind?: number
  /** What happens to the events of a watch. */
  readonly watch?: WatchFault
}

export interface WatchFault {
  /** The watch ends after this many events. */
  readonly dropAfter?: number
  /** Each event waits this long. */
  readonly delay?: number | string
  /** Bookmarks are not sent. */
  readonly withholdBookmarks?: boolean
  /** The watch is refused as too old: 410. */
  readonly expired?: boolean
}

type FieldType =
  | 'text'
  | 'texts'
  | 'verbs'
  | 'number'
  | 'probability'
  | 'count'
  | 'boolean'
  | 'duration'
  | 'cut'
  | 'watch'

const WATCH_FIELDS: Readonly<Record<keyof WatchFault, FieldType>> = {
  dropAfter: 'count',
  delay: 'duration',
  withholdBookmarks: 'boolean',
  expired: 'boolean',
}

const FIELDS: Readonly<Record<keyof Fault, FieldType>> = {
  verb: 'verbs',
  resource: 'texts',
  kind: 'texts',
  group: 'text',
  subresource: 'text',
  namespace: 'text',
  name: 'text',
  user: 'text',
  webhook: 'text',
  probability: 'probability',
  times: 'count',
  latency: 'duration',
  status: 'number',
  retryAfter: 'number',
  cut: 'cut',
  asOf: 'text',
  behind: 'number',
  watch: 'watch',
}

const EFFECTS = ['latency', 'status', 'cut', 'asOf', 'behind', 'watch', 'webhook'] as const
/** What can be said of the calls of a webhook. */
const OF_WEBHOOKS: readonly string[] = ['webhook', 'latency', 'probability', 'times'] satisfies (keyof Fault)[]
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']
const STATUSES = [409, 410, 429, 500, 503, 504]

/** Faults with these effects alone meet requests of these verbs alone. */
const EFFECTS_OF_VERBS: { readonly [K in keyof Fault]: readonly string[] } = {
  asOf: ['get', 'list', 'watch'],
  behind: ['get', 'list', 'watch'],
  watch: ['watch'],
}
const EFFECTS_OF_ALL_VERBS = ['latency', 'status', 'cut'] as const

const DESCRIPTIONS: { readonly [K in FieldType]?: string } = {
  probability: 'number from 0 to 1',
  count: 'whole number of at least 1',
}

/** Throws a UsageError that says what would be right. */
export function checkFault(fault: unknown): Fault {
  if (typeof fault !== 'object' || fault === null) throw new UsageError('a fault is an object, such as { status: 503 }')
  checkFields('a fault', fault, FIELDS)
  const checked = fault as Fault
  const other = checked.webhook !== undefined && Object.keys(fault).find(name => !OF_WEBHOOKS.includes(name))
  if (other) throw new UsageError(`a fault of a webhook has no ${other}: it has ${OF_WEBHOOKS.join(', ')}`)
  if (!EFFECTS.some(effect => checked[effect] !== undefined)) {
    throw new UsageError(`a fault needs an effect: one of ${EFFECTS.join(', ')}`)
  }
  if (checked.status !== undefined && !STATUSES.includes(checked.status)) {
    throw new UsageError(`status: ${checked.status}: it must be one of ${STATUSES.join(', ')}`)
  }
  if (checked.retryAfter !== undefined && checked.status === undefined) {
    throw new UsageError('retryAfter belongs to a status: { status: 429, retryAfter: 1 }')
  }
  const { verb } = checked
  if (verb !== undefined && checked.webhook === undefined && ![verb].flat().some(each => hasEffectOn(checked, each))) {
    const effect = EFFECTS.find(each => checked[each] !== undefined)!
    throw new UsageError(
      `${effect} has no effect on ${[verb].flat().join(', ')}: it needs ${EFFECTS_OF_VERBS[effect]?.join(', ')}`,
    )
  }
  return checked
}

const hasEffectOn = (fault: Fault, verb: string): boolean =>
  EFFECTS_OF_ALL_VERBS.some(effect => fault[effect] !== undefined) ||
  Object.entries(EFFECTS_OF_VERBS).some(
    ([effect, verbs]) => fault[effect as keyof Fault] !== undefined && verbs.includes(verb),
  )

function checkFields(what: string, given: object, fields: Readonly<Record<string, FieldType>>): void {
  refuseUnknownFields(what, given, Object.keys(fields))
  for (const [name, value] of Object.entries(given)) checkField(name, value, fields[name]!)
}

function checkField(name: string, value: unknown, type: FieldType): void {
  const isRight = {
    text: () => typeof value === 'string',
    texts: () => [value].flat().every(each => typeof each === 'string'),
    verbs: () => [value].flat().every(each => typeof each === 'string'),
    number: () => typeof value === 'number' && value >= 0,
    probability: () => typeof value === 'number' && value >= 0 && value <= 1,
    count: () => Number.isSafeInteger(value) && (value as number) > 0,
    boolean: () => typeof value === 'boolean',
    duration: () => isDuration(typeof value === 'string' ? parseDuration(value) : value),
    cut: () => value === 'before' || value === 'after',
    watch: () => typeof value === 'object' && value !== null,
  }[type]
  if (value === undefined) return
  if (!isRight()) throw new UsageError(`${name}: ${JSON.stringify(value)} is not a ${DESCRIPTIONS[type] ?? type}`)
  if (type === 'verbs') checkVerbs([value].flat() as string[])
  if (type === 'watch') checkFields('the fault of a watch', value as object, WATCH_FIELDS)
}

function checkVerbs(verbs: readonly string[]): void {
  const unknown = verbs.find(verb => !VERBS.includes(verb))
  if (unknown === undefined) return
  const near = nearest(unknown, VERBS)
  const help = near === undefined ? `it must be one of ${VERBS.join(', ')}` : `did you mean ${near}?`
  throw new UsageError(`verb: there is no ${unknown}: ${help}`)
}

/** As long as a timer of the system can wait. */
const MAX_DURATION_MS = 2 ** 31 - 1

const isDuration = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= MAX_DURATION_MS

/** `kind`: that of the resource, empty where there is none. */
export function matches(fault: Fault, info: RequestInfo, kind: string, user: string): boolean {
  return (
    fault.webhook === undefined &&
    hasEffectOn(fault, info.verb) &&
    isAmong(fault.verb, info.verb) &&
    isAmong(fault.resource, info.resource) &&
    isAmong(fault.kind, kind) &&
    isAmong(fault.group, info.group) &&
    isAmong(fault.subresource, info.subresource) &&
    isAmong(fault.namespace, info.namespace) &&
    isAmong(fault.name, info.name) &&
    isAmong(fault.user, user)
  )
}

const isAmong = (wanted: string | readonly string[] | undefined, value: string): boolean =>
  wanted === undefined || (typeof wanted === 'string' ? wanted === value : wanted.includes(value))

/** Milliseconds of a latency or delay. */
export const millisecondsOf = (time: number | string): number => (typeof time === 'number' ? time : parseDuration(time))
