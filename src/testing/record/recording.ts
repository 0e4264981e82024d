// What happened during a test: the requests, and the objects that were created, changed or deleted. A snapshot of the store
// costs nothing, so that the objects before the test are compared with those after it only when a report is asked for.
import { decodeJson, encodeJson } from '../../codec/json.js'
import { changesBetween, type FieldChange } from '../../meta/values/field-changes.js'
import type { Value } from '../../meta/values/value.js'
import type { TestCore } from '../core.js'
import type { LoggedRequest } from '../request-log.js'
import type { Snapshot } from '../snapshots.js'
import type { RecordedExchange } from './exchange-log.js'
import { writeRecord } from './record-file.js'

export interface Recording {
  /** The requests since the recording began. */
  readonly requests: readonly LoggedRequest[]
  /** The same with their bodies and answers, for a replay. A watch has the events so far. */
  readonly exchanges: readonly RecordedExchange[]
  /** Ends it: what follows is not part of it. */
  stop(): void
  /** Writes the exchanges to a file, for `server.replay(file)`. */
  save(file: string): Promise<void>
  /** The objects that differ from those when it began. */
  changes(): readonly ObjectChange[]
  /** The last requests and the changes, as text, without what the server creates for itself after a start or in a new namespace. */
  report(): string
}

export interface ObjectChange {
  /** `/configmaps/default/settings`: where the object is stored. */
  readonly key: string
  readonly type: 'created' | 'changed' | 'deleted'
  /** Empty for objects that were created or deleted. */
  readonly fields: readonly FieldChange[]
}

/** Without exchanges, whose bodies need not be kept then. */
export function startRecording(core: Pick<TestCore, 'requests' | 'snapshot'>): Omit<Recording, 'exchanges' | 'save'> {
  const before = core.snapshot()
  const begin = core.requests.count
  let requests = (): readonly LoggedRequest[] => core.requests.since(begin)
  let after = (): Snapshot => core.snapshot()
  const changes = (): readonly ObjectChange[] => changedObjects(before, after())
  return {
    get requests() {
      return requests()
    },
    stop() {
      const [kept, end] = [requests(), after()]
      requests = () => kept
      after = () => end
    },
    changes,
    report: () =>
      printReport(
        requests(),
        changes().filter(change => !isHousekeeping(change)),
      ),
  }
}

export function startFullRecording(core: Pick<TestCore, 'requests' | 'snapshot' | 'exchanges'>): Recording {
  const recording = startRecording(core)
  let exchanges = core.exchanges.begin()
  return {
    get requests() {
      return recording.requests
    },
    get exchanges() {
      return exchanges()
    },
    stop() {
      recording.stop()
      const kept = exchanges()
      exchanges = () => kept
    },
    save: file => writeRecord(file, exchanges()),
    changes: recording.changes,
    report: recording.report,
  }
}

/** Adds the report to the message of the error with which `work` fails. */
export async function withReport<T>(recording: Pick<Recording, 'report'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error) {
      const { message } = error
      error.message = `${message}\n\n${recording.report()}`
      // The stack begins with the message as it was.
      if (error.stack !== undefined) error.stack = error.stack.replace(message, () => error.message)
    }
    throw error
  }
}

/** Sorts after every key. */
const END = '\u{10ffff}'

function changedObjects(before: Snapshot, after: Snapshot): readonly ObjectChange[] {
  const changes: ObjectChange[] = []
  for (const key of before.entries.keys('', END)) {
    if (!after.entries.get(key)) changes.push({ key, type: 'deleted', fields: [] })
  }
  for (const key of after.entries.keys('', END)) {
    const [old, current] = [before.entries.get(key), after.entries.get(key)!]
    if (!old) changes.push({ key, type: 'created', fields: [] })
    else if (old.revision !== current.revision) {
      changes.push({ key, type: 'changed', fields: changesBetween(decode(old.value), decode(current.value)) })
    }
  }
  return changes
}

/** These objects come a moment after a start, and would hide what the test did. */
const HOUSEKEEPING = [
  /^\/apiregistration\.k8s\.io\/apiservices\/v/,
  /^\/clusterroles\/(admin|edit|view)$/,
  /^\/configmaps\/(kube-system\/|[^/]+\/kube-root-ca\.crt$)/,
  /^\/serviceaccounts\/[^/]+\/default$/,
  /^\/servicecidrs\/kubernetes$/,
]
const isHousekeeping = ({ key, type }: ObjectChange): boolean =>
  type !== 'deleted' && HOUSEKEEPING.some(each => each.test(key))

const decode = (bytes: Uint8Array): Value => decodeJson(bytes).value

/** Of a long test only the end counts. */
const MAX_REQUESTS = 40
const MAX_CHANGES = 40
const MAX_VALUE = 120

function printReport(requests: readonly LoggedRequest[], changes: readonly ObjectChange[]): string {
  return [
    `API requests (the last ${Math.min(requests.length, MAX_REQUESTS)} of ${requests.length}):`,
    ...requests.slice(-MAX_REQUESTS).map(printRequest),
    `Objects that differ from the beginning (${changes.length}):`,
    ...changes.slice(0, MAX_CHANGES).flatMap(printChange),
    ...(changes.length > MAX_CHANGES ? [`  … and ${changes.length - MAX_CHANGES} more`] : []),
  ].join('\n')
}

function printRequest({ status, method, path, query, user, milliseconds }: LoggedRequest): string {
  const asked = query === '' ? path : `${path}?${query}`
  return `  ${status} ${method} ${asked}  ${user}  ${Math.round(milliseconds)} ms`
}

const printChange = ({ key, type, fields }: ObjectChange): string[] => [
  `  ${type} ${key}`,
  ...fields.map(({ field, before, after }) => `    ${printField(field, before, after)}`),
]

export const printField = (field: string, before: Value | undefined, after: Value | undefined): string =>
  `${field === '' ? 'answer' : field}: ${printValue(before)} → ${printValue(after)}`

function printValue(value: Value | undefined): string {
  if (value === undefined) return '(none)'
  const text = encodeJson(value)
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}
