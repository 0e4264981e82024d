// Creates a folder with those above it, as `mkdirSync` with `recursive` does. That function never returns below a folder
// in which the system lets no folder be created although it exists, such as /proc, in Node 20 to 26.
import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** The first folder that was created, if one was missing. Throws the error of the system. */
export function createFolder(path: string, mode = 0o777): string | undefined {
  const missing: string[] = []
  for (
    let folder = resolve(path);
    statSync(folder, { throwIfNoEntry: false }) === undefined;
    folder = dirname(folder)
  ) {
    missing.unshift(folder)
  }
  for (const folder of missing) createOne(folder, mode)
  if (missing.length === 0 && !statSync(path).isDirectory()) throw notAFolder(path)
  return missing[0]
}

function createOne(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process may have created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(folder).isDirectory()) throw error
  }
}

const notAFolder = (path: string): Error => new Error(`ENOTDIR: not a directory, mkdir '${path}'`)
