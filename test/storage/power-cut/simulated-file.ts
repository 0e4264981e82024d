// A file as programs see it, and as the disk has it. What was written since the last sync may be on the disk in part: any of its
// sectors, and the size or not. A sync that fails leaves each page written or not, and the system does not write it again:
// programs go on seeing it until the machine stops.
import type { Random } from '../history/random.js'

const PAGE = 4096
const SECTOR = 512
/** The system writes a page before it is synced now and then. */
const EARLY = 0.02

export interface SimulatedFile {
  write(bytes: Buffer, position: number, isSynced: boolean): void
  truncate(size: number): void
  /** Begins a sync. Returns what to call when it ends, since it may not have what is written meanwhile. */
  sync(): (isDone: boolean) => void
  /** When the process has ended now. */
  killed(): FileState
  /** When the machine has stopped now: one of the many possibilities. */
  stopped(random: Random): FileState
}

export interface FileState {
  /** What programs see. */
  readonly seen: Buffer
  readonly onDisk: Buffer
  /** The pages that the next sync writes. */
  readonly dirty: ReadonlySet<number>
}

export const whole = (content: Buffer): FileState => ({ seen: content, onDisk: content, dirty: new Set() })

export function createSimulatedFile(initial: FileState, random: Random): SimulatedFile {
  let seen: Buffer = Buffer.from(initial.seen)
  let onDisk: Buffer = Buffer.from(initial.onDisk)
  let dirty = new Set(initial.dirty)
  let isSizeDirty = seen.length !== onDisk.length
  /** The pages of syncs that have begun and not ended. */
  const syncing = new Set<readonly { readonly page: number }[]>()
  const unsynced = (): Set<number> => new Set([...dirty, ...[...syncing].flat().map(({ page }) => page)])

  function grow(file: Buffer, size: number): Buffer {
    return file.length >= size ? file : Buffer.concat([file, Buffer.alloc(size - file.length)])
  }

  const contentOf = (page: number): Buffer => Buffer.from(seen.subarray(page * PAGE, (page + 1) * PAGE))

  function store(page: number, content: Buffer): void {
    onDisk = grow(onDisk, page * PAGE + content.length)
    content.copy(onDisk, page * PAGE)
  }

  return {
    write(bytes, position, isSynced) {
      if (position + bytes.length > seen.length) isSizeDirty = true
      seen = grow(seen, position + bytes.length)
      bytes.copy(seen, position)
      if (isSynced) {
        onDisk = grow(onDisk, position + bytes.length)
        bytes.copy(onDisk, position)
        return
      }
      for (let page = Math.floor(position / PAGE); page * PAGE < position + bytes.length; page++) dirty.add(page)
      if (!random.chance(EARLY)) return
      const early = random.oneOf([...dirty])
      store(early, contentOf(early))
    },
    truncate(size) {
      isSizeDirty = true
      // The rest of the last page is zeros when the file grows again.
      if (size < seen.length) dirty.add(Math.floor(size / PAGE))
      seen = Buffer.from(grow(seen.subarray(0, size), size))
    },
    sync() {
      const pages = Array.from(dirty, page => ({ page, content: contentOf(page) }))
      const size = isSizeDirty ? seen.length : undefined
      dirty = new Set()
      isSizeDirty = false
      syncing.add(pages)
      return isDone => {
        syncing.delete(pages)
        for (const { page, content } of pages) if (isDone || random.chance(0.5)) store(page, content)
        if (size === undefined) return
        if (isDone || random.chance(0.5)) onDisk = Buffer.from(grow(onDisk.subarray(0, size), size))
      }
    },
    killed: () => ({ seen, onDisk, dirty: unsynced() }),
    stopped(choice) {
      const size = choice.chance(0.5) ? seen.length : onDisk.length
      const file = Buffer.from(grow(onDisk.subarray(0, size), size))
      for (const page of unsynced()) {
        for (let at = page * PAGE; at < Math.min((page + 1) * PAGE, size, seen.length); at += SECTOR)
          if (choice.chance(0.5)) seen.copy(file, at, at, Math.min(at + SECTOR, size))
      }
      return whole(file)
    },
  }
}
