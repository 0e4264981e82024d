// How another process starts this program.
import { packageFile } from '../base/package-file.js'

/** The words of a command line, to which the arguments are added. */
export async function ownProgram(): Promise<readonly [string, ...string[]]> {
  return (await isSingleExecutable()) ? [process.execPath] : [process.execPath, packageFile('bin/binnacle')]
}

/** Whether this is the single executable that `npm run package` makes. Older versions of Node know none, nor do Bun and Deno. */
export async function isSingleExecutable(): Promise<boolean> {
  try {
    return (await import('node:sea')).isSea()
  } catch {
    return false
  }
}
