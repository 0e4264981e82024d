// The packages that the program needs at run time, as they are installed here.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../programs.mjs'

/**
 * Their folders: `node_modules/lmdb`. The lock file marks what is only for development; optional packages of other platforms
 * are not installed.
 */
export function runtimePackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && !dev && existsSync(join(root, path)))
    .map(([path]) => path)
}
