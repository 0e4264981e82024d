// Operations and watch steps as text, one line each, for failure messages.
import type { Operation, Outcome, Requested, Seen, SeenEvent, WatchStep } from './history.js'

/** `#12 c3 update /h/a/1 = v12, expecting 5 → done at 9   [31–40]`: the numbers in brackets are the times. */
export function operationInWords({ id, client, requested, calledAt, answeredAt, outcome }: Operation): string {
  return `#${id} ${client} ${requestedInWords(requested)} → ${outcomeInWords(outcome)}   [${calledAt}–${answeredAt ?? ''}]`
}

export function entryInWords(entry: Seen | undefined): string {
  return entry ? `${short(entry.value)} at ${entry.revision}` : 'nothing'
}

export function eventInWords({ revision, key, value, previous }: SeenEvent): string {
  const what = value === undefined ? 'deleted' : `= ${short(value)}`
  return `${key} ${what} at ${revision} (before: ${entryInWords(previous)})`
}

export function stepInWords(step: WatchStep): string {
  return `${step.is} ${detailInWords(step)}`.trimEnd().concat(`   [${step.time}]`)
}

/** The last steps of a watcher, up to and including the wrong one. */
export function stepsInWords(steps: readonly WatchStep[], upTo = steps.at(-1)!, howMany = 6): string {
  const end = steps.indexOf(upTo) + 1
  return lines(steps.slice(Math.max(0, end - howMany), end).map(stepInWords))
}

export const lines = (all: readonly string[]): string => all.map(line => `\n    ${line}`).join('')

/** Values may be padded; their beginning identifies them. */
export const short = (value: string): string => (value.length > 16 ? `${value.slice(0, 13)}...` : value)

function requestedInWords(requested: Requested): string {
  switch (requested.what) {
    case 'revision':
      return 'revision'
    case 'get':
      return `get ${requested.key}${atInWords(requested.at)}`
    case 'range': {
      const limit = requested.limit === undefined ? '' : `, limit ${requested.limit}`
      const start = requested.startAfter === undefined ? '' : `, after ${requested.startAfter}`
      return `range ${requested.prefix}${atInWords(requested.at)}${limit}${start}`
    }
    case 'create':
      return `create ${requested.key} = ${short(requested.value)}`
    case 'update':
      return `update ${requested.key} = ${short(requested.value)}, expecting ${requested.expected}`
    default:
      return `delete ${requested.key}, expecting ${requested.expected}`
  }
}

function atInWords(at: Extract<Requested, { what: 'get' }>['at']): string {
  if (at === 'latest') return ''
  if (at === 'any') return ' at any revision'
  return 'exactly' in at ? ` at revision ${at.exactly}` : ` not older than ${at.notOlderThan}`
}

function outcomeInWords(outcome: Outcome): string {
  switch (outcome.is) {
    case 'revision':
      return `${outcome.revision}`
    case 'entry':
      return entryInWords(outcome.entry)
    case 'page': {
      const entries = outcome.entries.map(entry => `${entry.key} = ${entryInWords(entry)}`).join(', ')
      return `page of revision ${outcome.revision}: ${entries || 'empty'}; ${outcome.remaining} more`
    }
    case 'done':
      return `done at ${outcome.revision}`
    case 'refused':
      return `refused, there is ${entryInWords(outcome.current)}`
    case 'failed':
      return `failed (${outcome.code}: ${outcome.message})`
    default:
      return `outcome unknown (${outcome.code}: ${outcome.message})`
  }
}

function detailInWords(step: WatchStep): string {
  switch (step.is) {
    case 'opened':
      return `after ${step.after}`
    case 'event':
      return eventInWords(step.event)
    case 'progress':
      return `${step.revision}`
    case 'ended':
      return `(${step.code}: ${step.message})`
    default:
      return ''
  }
}
