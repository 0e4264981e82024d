// Brings a fresh clone to the point where it can run: installs dependencies and builds, each only when needed.
// Uses nothing but Node, because it runs before anything is installed. `--no-build` stops after the install.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'

/** Runs a command, its output on stderr so that stdout stays the caller's. */
export function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}

const modified = path => (existsSync(path) ? statSync(path).mtimeMs : 0)

function newest(folder) {
  return Math.max(
    modified(folder),
    ...readdirSync(folder, { withFileTypes: true }).map(entry => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? newest(path) : modified(path)
    }),
  )
}

export function installIfNeeded() {
  // npm notes in this file what it installed; an older one means that the lock file has changed since.
  const installed = join(root, 'node_modules', '.package-lock.json')
  if (modified(installed) >= modified(join(root, 'package-lock.json'))) return
  console.error('Installing dependencies …')
  // Not `npm ci`, which refuses a lock file that was written where the packages of other platforms are not to be had.
  run(npm, ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'])
  const now = new Date()
  utimesSync(installed, now, now)
}

export function buildIfNeeded() {
  const stamp = join(root, 'dist', '.built')
  const sources = Math.max(newest(join(root, 'src')), modified(join(root, 'tsconfig.build.json')))
  if (modified(stamp) >= sources) return
  console.error('Building …')
  run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json'])
  run(process.execPath, [join(root, 'scripts', 'bundle.mjs')])
  writeFileSync(stamp, '')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  installIfNeeded()
  if (!process.argv.includes('--no-build')) buildIfNeeded()
}
