// Notices when files change, are replaced or come back. The system reports changes in their folders at once; since not
// every file system does, the files are looked at once a minute, too.
import { type FSWatcher, realpathSync, watch } from 'node:fs'
import { dirname } from 'node:path'

const LOOK_MS = 60_000
/** Several files are often written together. */
const BATCH_MS = 50

/** Calls `changed` after something happened in the folders of these files. What happened is for the caller to find out. */
export function watchFiles(paths: readonly string[], changed: () => void, lookMs = LOOK_MS): { stop(): void } {
  let waiting: NodeJS.Timeout | undefined
  const soon = (): void => {
    waiting ??= setTimeout(() => {
      waiting = undefined
      changed()
    }, BATCH_MS).unref()
  }
  const watchers = foldersOf(paths).flatMap(folder => watchFolder(folder, soon) ?? [])
  const look = setInterval(changed, lookMs).unref()
  return {
    stop() {
      for (const watcher of watchers) watcher.close()
      clearInterval(look)
      clearTimeout(waiting)
    },
  }
}

/** A link may point to another folder, whose files change. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const path of paths) {
    folders.add(dirname(path))
    try {
      folders.add(dirname(realpathSync(path)))
    } catch {
      // It will be looked for in its folder.
    }
  }
  return [...folders]
}

/** Undefined where folders cannot be watched. */
function watchFolder(folder: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, changed)
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return undefined
  }
}
