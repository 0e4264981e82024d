import { describe, expect, it } from 'vitest'
import { allOf } from '../base/awaitable.js'
import { widgetKindOfTwoVersions } from '../kinds/fake-kinds.suite.js'
import { type VersionedKind } from '../kinds/kind.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { parseFieldSelector } from '../meta/selectors/field-selectors.js'
import { createMemoryStore } from '../storage/memory/memory-store.js'
import { createObjectStore, type ObjectEvent } from './object-store.js'
import { viewSelected } from './select-entries.js'
import { selectionOf } from './selection.js'

const widget = (name: string, color: string): ApiObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'ns' },
  spec: { color },
})

/** Objects in the store, the events of writing them, and how many were converted in each call. */
async function stored(...writes: (readonly [string, string | undefined])[]) {
  const calls: number[] = []
  const kind = widgetKindOfTwoVersions(calls)
  const store = createObjectStore(createMemoryStore(), kind)
  const events: ObjectEvent[] = []
  store.cache.watch(kind.keyPrefix, await store.cache.revision(), {
    event: event => events.push(event) > 0,
    end: () => {},
  })
  for (const [name, color] of writes) {
    const entry = await store.get('ns', name)
    if (!color) await store.delete('ns', name, entry!.revision)
    else if (entry) await store.update(widget(name, color), entry.revision)
    else await store.create(widget(name, color))
  }
  const [v1, v2] = kind.versions.map((version): VersionedKind => ({ kind, version })) as [VersionedKind, VersionedKind]
  await expect.poll(() => events.length).toBe(writes.length)
  return {
    v1,
    v2,
    events,
    calls,
    entries: (await store.cache.range(kind.keyPrefix)).entries,
    views: store.views,
    changeFor: store.changes.changeFor,
  }
}

function select(served: VersionedKind, fields: string) {
  const parsed = parseFieldSelector(fields)
  if (!parsed.ok) throw new Error(parsed.error)
  return selectionOf(served.version, { labelSelector: [], fieldSelector: parsed.value })
}

describe('entries', () => {
  it('in the version of the request are selected without conversion', async () => {
    const { v1, entries, calls, views } = await stored(['a', 'red'], ['b', 'blue'])
    const shown = await viewSelected(views, v1, select(v1, 'spec.color=blue'), entries, undefined)
    expect(shown.map(each => each?.value()['spec'])).toEqual([undefined, { color: 'blue' }])
    expect(calls).toEqual([])
  })

  it('in another version are converted together, and selected by the fields of the version of the request', async () => {
    const { v2, entries, calls, views } = await stored(['a', 'red'], ['b', 'blue'], ['c', 'blue'])
    const shown = await viewSelected(views, v2, select(v2, 'spec.colour=blue,metadata.name!=c'), entries, undefined)
    expect(shown.map(each => each?.value()['spec'])).toEqual([undefined, { colour: 'blue' }, undefined])
    expect(calls).toEqual([2])
  })
})

describe('an event', () => {
  it('has the type of the write for a watch without a selector', async () => {
    const { v1, events, calls, changeFor } = await stored(['a', 'red'], ['a', 'blue'], ['a', undefined])
    const changes = await allOf(events.map(event => changeFor(v1, select(v1, ''), event)))
    expect(changes.map(change => change?.type)).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
    expect(changes[2]?.object.value()).toMatchObject({
      metadata: { resourceVersion: String(events[2]!.revision) },
      spec: { color: 'blue' },
    })
    expect(calls).toEqual([])
  })

  it('is ADDED or DELETED when the object enters or leaves the selection, in every version', async () => {
    const { v1, v2, events, changeFor } = await stored(['a', 'red'], ['a', 'blue'], ['a', 'red'], ['a', undefined])
    for (const [served, fields] of [
      [v1, 'spec.color=blue'],
      [v2, 'spec.colour=blue'],
    ] as const) {
      const changes = await allOf(events.map(event => changeFor(served, select(served, fields), event)))
      expect(changes.map(change => change?.type)).toEqual([undefined, 'ADDED', 'DELETED', undefined])
    }
  })

  it('is converted once for all watchers of a version', async () => {
    const { v2, events, calls, changeFor } = await stored(['a', 'red'])
    const [event] = events as [ObjectEvent]
    const changes = await allOf(['', 'spec.colour=red'].map(fields => changeFor(v2, select(v2, fields), event)))
    expect(changes[0]?.object).toBe(changes[1]?.object)
    expect(changes[0]?.object.value()['spec']).toEqual({ colour: 'red' })
    expect(calls).toEqual([1])
  })
})
