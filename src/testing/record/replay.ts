// Sends the requests of a record to a server, one after the other and each as the user of then, and says which answers differ.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Identity } from '../../auth/authenticator.js'
import { refuseUnknownFields } from '../../base/known-fields.js'
import { isObject, type Value } from '../../meta/values/value.js'
import { createFetch, type Fetch } from '../fetch.js'
import { eventsOf } from '../watch.js'
import type { RecordedExchange } from './exchange-log.js'
import { printField } from './recording.js'
import { type AnswerDifference, createTranslation, type Translation } from './same-answer.js'

export interface ReplayOptions {
  /** How long a read whose answer differs is repeated, and how long the events of a watch are waited for; 2 seconds by default. */
  readonly timeoutMs?: number
}

export interface Replay {
  /** How many requests were sent. */
  readonly count: number
  /** The requests that were answered in another way than in the record. */
  readonly differences: readonly ReplayDifference[]
  /** The differences as text. */
  report(): string
}

export interface ReplayDifference {
  /** The place in the record, from 0. */
  readonly index: number
  readonly exchange: RecordedExchange
  readonly fields: readonly AnswerDifference[]
}

export interface ReplayTarget {
  readonly url: string
  readonly ca: string
  /** What the server authenticates by. */
  readonly tokens: Map<string, Identity>
  /** That of the latest write. */
  resourceVersion(): string
}

interface Answer {
  readonly status: number
  readonly body: Value | undefined
}

const REPEAT_MS = 50

export async function replay(
  exchanges: readonly RecordedExchange[],
  target: ReplayTarget,
  options: ReplayOptions = {},
): Promise<Replay> {
  refuseUnknownFields('a replay', options, ['timeoutMs'])
  const { timeoutMs = 2000 } = options
  const users = createUsers(target)
  const watches: ReplayedWatch[] = []
  const found: ReplayDifference[] = []
  let translation = createTranslation()
  const note = (index: number, exchange: RecordedExchange, fields: readonly AnswerDifference[]): void => {
    if (fields.length > 0) found.push({ index, exchange, fields })
  }

  /** A read is repeated until the controllers of this server have done what those of the other had done. */
  async function repeat(exchange: RecordedExchange, fetch: Fetch): Promise<readonly AnswerDifference[]> {
    for (const deadline = performance.now() + timeoutMs; ; await sleep(REPEAT_MS)) {
      const attempt = translation.copy()
      const fields = compareAnswers(exchange, await send(exchange, fetch, attempt), attempt)
      if (fields.length > 0 && exchange.method === 'GET' && performance.now() < deadline) continue
      translation = attempt
      return fields
    }
  }

  try {
    for (const [index, exchange] of exchanges.entries()) {
      const fetch = users.fetchAs(exchange)
      if (isWatch(exchange)) {
        // A watch that began with the state before the record begins with that before the replay.
        const path = translation.translate(exchange.path, target.resourceVersion())
        watches.push(await openWatch(index, exchange, path, fetch, translation))
      } else note(index, exchange, await repeat(exchange, fetch))
    }
    for (const watch of watches) note(watch.index, watch.exchange, await watch.differences(translation, timeoutMs))
  } finally {
    for (const watch of watches) watch.stop()
    users.forget()
  }
  const differences = found.toSorted((a, b) => a.index - b.index)
  return { count: exchanges.length, differences, report: () => printReport(exchanges.length, differences) }
}

// ---- requests

/** Fetches as the users of the record, who are known to the server until they are forgotten. */
function createUsers({ url, ca, tokens }: ReplayTarget) {
  const fetches = new Map<string, Fetch>()
  const added: string[] = []
  return {
    fetchAs({ user }: RecordedExchange): Fetch {
      const key = JSON.stringify(user)
      let fetch = fetches.get(key)
      if (!fetch) {
        const token = user.name === 'system:anonymous' ? '' : randomBytes(24).toString('base64url')
        // Authentication adds this group by itself.
        const groups = user.groups.filter(group => group !== 'system:authenticated')
        if (token !== '') tokens.set(token, { ...user, groups })
        added.push(token)
        fetches.set(key, (fetch = createFetch({ url, ca, token })))
      }
      return fetch
    },
    forget(): void {
      for (const token of added) tokens.delete(token)
    },
  }
}

const isWatch = ({ path }: RecordedExchange): boolean =>
  /[?&]watch=(true|1)\b/.test(path) || /^\/(?:api|apis\/[^/]+)\/[^/]+\/watch\//.test(path)

const isProtobuf = ({ headers }: RecordedExchange): boolean => /^\S*protobuf/.test(headers['accept'] ?? '')

function open(
  exchange: RecordedExchange,
  fetch: Fetch,
  translation: Translation,
  signal?: AbortSignal,
): Promise<Response> {
  const { method, path, headers, body } = exchange
  const [first = '*/*'] = (headers['accept'] ?? '*/*').split(',')
  const accept = /json|\*/.test(first) ? headers['accept'] : first.replace(/^[^;]+/, 'application/json')
  return fetch(translation.translate(path), {
    method,
    headers: { ...headers, ...(accept !== undefined && { accept }) },
    ...(body !== undefined && { body: translation.translate(body) }),
    ...(signal && { signal }),
  })
}

async function send(exchange: RecordedExchange, fetch: Fetch, translation: Translation): Promise<Answer> {
  const response = await open(exchange, fetch, translation).catch(() => undefined)
  if (!response) return { status: 0, body: undefined }
  return { status: response.status, body: parse(await response.text()) }
}

function parse(text: string | undefined): Value | undefined {
  if (text === undefined || text === '') return undefined
  try {
    return JSON.parse(text) as Value
  } catch {
    return text
  }
}

function compareAnswers(
  exchange: RecordedExchange,
  { status, body }: Answer,
  translation: Translation,
): readonly AnswerDifference[] {
  // Then it is not known how the request would have been answered.
  if (exchange.status === 0) return []
  const inStatus =
    exchange.status === status ? [] : [{ field: 'status code', recorded: exchange.status, replayed: status }]
  const recorded = parse(exchange.answer)
  if (recorded === undefined) return inStatus
  if (inStatus.length === 0) return translation.compare(recorded, body, isProtobuf(exchange))
  // Of another status, the other fields say nothing.
  const [before, now] = [messageOf(recorded), messageOf(body)]
  return before === now ? inStatus : [...inStatus, { field: 'message', recorded: before, replayed: now }]
}

const messageOf = (answer: Value | undefined): Value | undefined => (isObject(answer) ? answer['message'] : undefined)

// ---- watches

interface ReplayedWatch {
  readonly index: number
  readonly exchange: RecordedExchange
  differences(translation: Translation, timeoutMs: number): Promise<readonly AnswerDifference[]>
  stop(): void
}

interface ChangeEvent {
  readonly type: string
  readonly object: Value
}

async function openWatch(
  index: number,
  exchange: RecordedExchange,
  path: string,
  fetch: Fetch,
  translation: Translation,
): Promise<ReplayedWatch> {
  const abort = new AbortController()
  const response = await open({ ...exchange, path }, fetch, translation, abort.signal)
  const events: ChangeEvent[] = []
  let arrived = (): void => {}
  const state = { isOver: false }
  const reading = (async () => {
    if (response.status !== 200) return
    for await (const event of eventsOf(response)) {
      events.push(event)
      arrived()
    }
  })()
    .catch(() => {})
    .finally(() => {
      state.isOver = true
      arrived()
    })
  const wanted = (exchange.answer ?? '')
    .split('\n')
    .flatMap(line => {
      const event = parse(line)
      return typeof event === 'object' && event !== null ? [event as unknown as ChangeEvent] : []
    })
    .filter(isChange)

  return {
    index,
    exchange,
    async differences(known, timeoutMs) {
      const late = AbortSignal.timeout(timeoutMs)
      late.addEventListener('abort', () => arrived())
      while (!state.isOver && !late.aborted && events.filter(isChange).length < wanted.length) {
        await new Promise<void>(resolve => (arrived = resolve))
      }
      if (response.status !== exchange.status) {
        return [{ field: 'status code', recorded: exchange.status, replayed: response.status }]
      }
      return compareEvents(wanted, events.filter(isChange), known, isProtobuf(exchange))
    },
    stop() {
      abort.abort()
      void reading
    },
  }
}

/** Bookmarks come at any time. */
const isChange = ({ type }: ChangeEvent): boolean => type !== 'BOOKMARK'

/** The events of each object must come in the same order. Those of different objects, and more than were recorded, may not. */
function compareEvents(
  wanted: readonly ChangeEvent[],
  events: readonly ChangeEvent[],
  translation: Translation,
  isLoose: boolean,
): readonly AnswerDifference[] {
  const failure = messageOf(events.find(({ type }) => type === 'ERROR')?.object)
  const left = new Map<string, ChangeEvent[]>()
  for (const event of events) {
    const place = placeOf(event.object)
    left.set(place, [...(left.get(place) ?? []), event])
  }
  return wanted.flatMap(({ type, object }, i) => {
    const event = left.get(translation.translate(placeOf(object)))?.shift()
    const name = `events[${i}]`
    if (!event) return [{ field: name, recorded: `${type} ${placeOf(object)}`, replayed: failure }]
    return translation.compare({ type, object }, { type: event.type, object: event.object }, isLoose, name)
  })
}

function placeOf(object: Value): string {
  const { kind, metadata } = object as { kind?: string; metadata?: { namespace?: string; name?: string } }
  return [kind, metadata?.namespace, metadata?.name].filter(Boolean).join('/')
}

// ---- the report

const MAX_DIFFERENCES = 20
const MAX_FIELDS = 10

function printReport(count: number, differences: readonly ReplayDifference[]): string {
  const same = count - differences.length
  return [
    `${same} of ${count} requests were answered as in the record${differences.length > 0 ? '; these were not:' : '.'}`,
    ...differences.slice(0, MAX_DIFFERENCES).flatMap(printDifference),
    ...(differences.length > MAX_DIFFERENCES ? [`  … and ${differences.length - MAX_DIFFERENCES} more`] : []),
  ].join('\n')
}

const printDifference = ({ index, exchange, fields }: ReplayDifference): string[] => [
  `  ${index + 1}. ${exchange.method} ${exchange.path}  ${exchange.user.name}`,
  ...fields.slice(0, MAX_FIELDS).map(({ field, recorded, replayed }) => `    ${printField(field, recorded, replayed)}`),
  ...(fields.length > MAX_FIELDS ? [`    … and ${fields.length - MAX_FIELDS} more fields`] : []),
]
