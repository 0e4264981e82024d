// The events of a watch, with what each has changed. They arrive faster than a page can be drawn, so they are collected,
// and the page is drawn once a frame. A bounded number is kept.
import { signal } from '@preact/signals'
import type { WatchEvent } from '../../api/list-watch.js'
import type { ApiObject } from '../../api/resource.js'
import { changesBetween, type FieldChange } from '../field-changes.js'

export interface LoggedEvent {
  readonly seq: number
  readonly at: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: ApiObject
  readonly before: ApiObject | undefined
  readonly changes: readonly FieldChange[]
}

export const MAX_EVENTS = 5000

export interface EventLog {
  /** Incremented when there are more events. */
  readonly version: { readonly value: number }
  /** Oldest first. */
  readonly events: () => readonly LoggedEvent[]
  readonly total: () => number
  /** Objects that were there before the watch began: the first change of each is compared with them. */
  readonly know: (objects: readonly ApiObject[], isFirst: boolean) => void
  readonly add: (event: WatchEvent<ApiObject>) => void
  readonly clear: () => void
}

export function createEventLog(draw: (run: () => void) => void = requestAnimationFrame): EventLog {
  const known = new Map<string, ApiObject>()
  const version = signal(0)
  let events: LoggedEvent[] = []
  let total = 0
  let isDue = false
  const changed = (): void => {
    if (isDue) return
    isDue = true
    draw(() => {
      isDue = false
      if (events.length > MAX_EVENTS) events = events.slice(-MAX_EVENTS)
      version.value++
    })
  }
  const keyOf = ({ metadata }: ApiObject): string => `${metadata.namespace ?? ''}/${metadata.name}`
  return {
    version,
    events: () => events,
    total: () => total,
    know(objects, isFirst) {
      if (isFirst) known.clear()
      for (const object of objects) known.set(keyOf(object), object)
    },
    add({ type, object }) {
      if (type === 'BOOKMARK' || type === 'ERROR') return
      const key = keyOf(object)
      const before = known.get(key)
      if (type === 'DELETED') known.delete(key)
      else known.set(key, object)
      const changes = type === 'MODIFIED' ? changesBetween(before, object) : []
      events.push({ seq: ++total, at: Date.now(), type, object, before, changes })
      if (events.length > 2 * MAX_EVENTS) events = events.slice(-MAX_EVENTS)
      changed()
    },
    clear() {
      events = []
      version.value++
    },
  }
}

/** As a watch sends them: one event a line. */
export const printEvents = (events: readonly LoggedEvent[]): string =>
  events.map(({ type, object }) => `${JSON.stringify({ type, object })}\n`).join('')
