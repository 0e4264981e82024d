// What an event of the store is to one watcher: an object that was in its selection before, or is in it now, was added,
// modified or deleted as this watcher sees it, whatever the write itself did.

import { type Awaitable, allOf, andThen } from '../base/awaitable.js'
import type { KindVersion, VersionedKind } from '../kinds/kind.js'
import type { ObjectEntry, ObjectEvent } from './object-attributes.js'
import type { ObjectView, ObjectViews } from './object-view.js'
import type { Selection } from './selection.js'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

export interface WatchChange {
  readonly type: EventType
  readonly object: ObjectView
}

export interface WatchChanges {
  /** Undefined if the event does not concern the watcher; a promise only where a webhook converts the object. */
  changeFor(versioned: VersionedKind, selection: Selection, event: ObjectEvent): Awaitable<WatchChange | undefined>
}

export function createWatchChanges(views: ObjectViews): WatchChanges {
  /** Conversions by webhooks, made once for all watchers of a version and kept as long as the event. */
  const conversions = new WeakMap<ObjectEvent, Map<KindVersion, Map<ObjectEntry, Promise<ObjectView>>>>()

  /** The latest change. The watchers of an event are served one after the other, and those with equal selectors see the same. */
  let latest: LatestChange | undefined

  function isSelected(
    versioned: VersionedKind,
    selection: Selection,
    event: ObjectEvent,
    entry: ObjectEntry | undefined,
  ): Awaitable<boolean> {
    if (entry === undefined) return false
    if (selection.everything) return true
    if (views.isInVersion(versioned, entry)) return selection.matches(entry)
    if (!selection.mayMatch(entry)) return false
    return andThen(view(versioned, event, entry), ({ value }) => selection.matchesObject(value()))
  }

  function changeOf(
    versioned: VersionedKind,
    event: ObjectEvent,
    before: boolean,
    now: boolean,
  ): Awaitable<WatchChange | undefined> {
    if (!before && !now) return undefined
    const type = now ? (before ? 'MODIFIED' : 'ADDED') : 'DELETED'
    return andThen(view(versioned, event, now ? event.entry! : event.previous!), object => ({ type, object }))
  }

  /** An object that leaves the selection is shown as it was, with the resourceVersion of the write that removed it. */
  function view(versioned: VersionedKind, event: ObjectEvent, entry: ObjectEntry): Awaitable<ObjectView> {
    const kept = conversions.get(event)?.get(versioned.version)?.get(entry)
    if (kept) return kept
    // All watchers share a conversion, so that none of them can cancel it.
    const made =
      entry === event.entry
        ? views.view(versioned, entry, undefined)
        : views.viewPrevious(versioned, entry, event.revision)
    if (made instanceof Promise) keep(event, versioned.version, entry, made)
    return made
  }

  function keep(event: ObjectEvent, version: KindVersion, entry: ObjectEntry, made: Promise<ObjectView>): void {
    let versions = conversions.get(event)
    if (!versions) conversions.set(event, (versions = new Map()))
    let entries = versions.get(version)
    if (!entries) versions.set(version, (entries = new Map()))
    entries.set(entry, made)
  }

  return {
    changeFor(versioned, selection, event) {
      const { version } = versioned
      const { text } = selection
      if (latest && latest.event === event && latest.version === version && latest.text === text) return latest.change
      const change = findChange(versioned, selection, event)
      if (!(change instanceof Promise)) latest = { event, version, text, change }
      return change
    },
  }

  function findChange(
    versioned: VersionedKind,
    selection: Selection,
    event: ObjectEvent,
  ): Awaitable<WatchChange | undefined> {
    const before = isSelected(versioned, selection, event, event.previous)
    const now = isSelected(versioned, selection, event, event.entry)
    if (typeof before === 'boolean' && typeof now === 'boolean') return changeOf(versioned, event, before, now)
    return andThen(allOf([before, now]), ([was, is]) => changeOf(versioned, event, was!, is!))
  }
}

interface LatestChange {
  readonly event: ObjectEvent
  readonly version: KindVersion
  readonly text: string
  readonly change: WatchChange | undefined
}
