// The objects with which watches begin. When a server or a network comes back, many watches begin at once: those that select the
// same share the pages that were read, and with them the encoding of their events. A page is kept for a moment only.

import type { CacheMark } from '../../storage/watch-cache.js'
import type { ViewedEntries } from '../select-entries.js'

export interface InitialPage {
  /** The state of the store that it shows. */
  readonly mark: CacheMark
  readonly views: ViewedEntries
  /** Of the entries that were read. */
  readonly bytes: number
  readonly lastKey: string | undefined
  readonly remaining: number
}

export interface InitialPages {
  find(name: string): InitialPage | undefined
  keep(name: string, page: InitialPage): void
}

const MAX_BYTES = 4 * 1024 * 1024
const KEPT_MS = 2000

export function createInitialPages(maxBytes = MAX_BYTES): InitialPages {
  /** The oldest first. */
  const pages = new Map<string, InitialPage>()
  let bytes = 0
  let timer: NodeJS.Timeout | undefined

  function drop(name: string): void {
    bytes -= pages.get(name)?.bytes ?? 0
    pages.delete(name)
  }

  function dropAll(): void {
    timer = undefined
    pages.clear()
    bytes = 0
  }

  return {
    find: name => pages.get(name),
    keep(name, page) {
      drop(name)
      if (page.bytes > maxBytes) return
      pages.set(name, page)
      bytes += page.bytes
      for (const oldest of pages.keys()) {
        if (bytes <= maxBytes) break
        drop(oldest)
      }
      timer ??= setTimeout(dropAll, KEPT_MS).unref()
    },
  }
}
