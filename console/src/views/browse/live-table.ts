// Fills a row store from a list and a watch, and draws at most once a frame however many events arrive.
import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { type ListWatchState, listWatch } from '../../api/list-watch.js'
import { AS_TABLE, type Table } from '../../api/tables.js'
import { createRowStore, type RowStore } from './row-store.js'

export interface LiveTable {
  readonly store: RowStore
  /** Counts the frames in which something has changed. */
  readonly version: number
  readonly state: ListWatchState
  /** Objects that the server has, but that have not arrived yet. */
  readonly remaining: number
}

export function useLiveTable(path: string, labelSelector: string, fieldSelector: string): LiveTable {
  const live = useMemo(() => createLiveTable(), [path, labelSelector, fieldSelector])
  useEffect(() => live.follow({ path, labelSelector, fieldSelector }), [live])
  return { store: live.store, version: live.version.value, state: live.state.value, remaining: live.remaining.value }
}

function createLiveTable() {
  const store = createRowStore()
  const version = signal(0)
  const state = signal<ListWatchState>({ phase: 'loading' })
  const remaining = signal(0)
  let frame = 0
  const draw = (): void => {
    if (frame !== 0) return
    frame = requestAnimationFrame(() => {
      frame = 0
      version.value++
    })
  }
  const follow = (selection: { path: string; labelSelector: string; fieldSelector: string }): (() => void) => {
    const controller = new AbortController()
    void listWatch<Table, Table>(
      { ...selection, accept: `${AS_TABLE},application/json`, parameters: { includeObject: 'Metadata' } },
      {
        page: (table, { first }) => {
          store.addPage(table, first)
          remaining.value = table.metadata.remainingItemCount ?? 0
          draw()
        },
        event: ({ type, object }) => {
          store.applyEvent(type, object, Date.now())
          if (type !== 'BOOKMARK') draw()
        },
        state: next => {
          state.value = next
        },
      },
      controller.signal,
    )
    return () => {
      controller.abort()
      cancelAnimationFrame(frame)
      frame = 0
    }
  }
  return { store, version, state, remaining, follow }
}
