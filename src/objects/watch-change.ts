// What an event of the store is to one watcher: an object that was in its selection before, or is in it now, was added,
// modified or deleted as this watcher sees it, whatever the write itself did.

import { type Awaitable, allOf, andThen } from '../base/awaitable.js'
import type { KindVersion } from '../kinds/kind.js'
import { type VersionedKind } from '../kinds/kind.js'
import type { ObjectEntry, ObjectEvent } from './object-store.js'
import { isInVersion, type ObjectView, viewEntry } from './object-view.js'
import type { Selection } from './selection.js'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

export interface Change {
  readonly type: EventType
  readonly object: ObjectView
}

/** Nothing if the event does not concern the watcher; a promise only where others convert the object. */
export function changeFor(
  served: VersionedKind,
  selection: Selection,
  event: ObjectEvent,
): Awaitable<Change | undefined> {
  const before = isSelected(served, selection, event, event.previous)
  const now = isSelected(served, selection, event, event.entry)
  if (typeof before === 'boolean' && typeof now === 'boolean') return changeOf(served, event, before, now)
  return andThen(allOf([before, now]), ([was, is]) => changeOf(served, event, was!, is!))
}

function isSelected(
  served: VersionedKind,
  selection: Selection,
  event: ObjectEvent,
  entry: ObjectEntry | undefined,
): Awaitable<boolean> {
  if (entry === undefined) return false
  if (selection.everything) return true
  if (isInVersion(served, entry)) return selection.matches(entry)
  if (!selection.mayMatch(entry)) return false
  return andThen(show(served, event, entry), shown => selection.matchesObject(shown.value()))
}

function changeOf(
  served: VersionedKind,
  event: ObjectEvent,
  before: boolean,
  now: boolean,
): Awaitable<Change | undefined> {
  if (!before && !now) return undefined
  const type = now ? (before ? 'MODIFIED' : 'ADDED') : 'DELETED'
  return andThen(show(served, event, now ? event.entry! : event.previous!), object => ({ type, object }))
}

/** What leaves is shown as it was, with the version of the write that took it away. */
function show(served: VersionedKind, event: ObjectEvent, entry: ObjectEntry): Awaitable<ObjectView> {
  if (entry === event.entry && isInVersion(served, entry)) return viewEntry(served, entry, undefined)
  const made = conversions.get(event)?.get(served.version)?.get(entry)
  if (made) return made
  // All watchers share this conversion, so that none of them can cancel it.
  const shown = viewEntry(served, entry === event.entry ? entry : { ...entry, revision: event.revision }, undefined)
  if (shown instanceof Promise) keep(event, served.version, entry, shown)
  return shown
}

/** Conversions by others, made once for all watchers of a version, and kept as long as the event is. */
const conversions = new WeakMap<ObjectEvent, Map<KindVersion, Map<ObjectEntry, Promise<ObjectView>>>>()

function keep(event: ObjectEvent, version: KindVersion, entry: ObjectEntry, shown: Promise<ObjectView>): void {
  let versions = conversions.get(event)
  if (!versions) conversions.set(event, (versions = new Map()))
  let entries = versions.get(version)
  if (!entries) versions.set(version, (entries = new Map()))
  entries.set(entry, shown)
}
