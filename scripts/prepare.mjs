// Brings a fresh clone to the point where it can run: installs dependencies and builds, each only when needed.
// Uses nothing but Node, because it runs before anything is installed. `--no-build` stops after the install.
import { existsSync, readdirSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ASIDE, node, npm, root } from './programs.mjs'

export async function installIfNeeded() {
  // npm notes in this file what it installed; an older one means that the lock file has changed since.
  const installed = join(root, 'node_modules', '.package-lock.json')
  if (modified(installed) >= modified(join(root, 'package-lock.json'))) return
  console.error('Installing dependencies …')
  const options = ['--no-audit', '--no-fund', '--loglevel=error']
  if ((await npm(['ci', ...options], { stdio: ASIDE })) !== 0) {
    console.error('WARNING: `npm ci` failed, as said above. Now trying `npm install`, which may choose other versions')
    console.error('WARNING: than package-lock.json lists. If that file is out of step with package.json, mend it.')
    exitUnlessDone(await npm(['install', '--no-save', ...options], { stdio: ASIDE }))
  }
  const now = new Date()
  utimesSync(installed, now, now)
}

const BUILT_FROM = [
  'src',
  'console',
  'scripts/build.mjs',
  'scripts/build-console.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
]

export async function buildIfNeeded() {
  const sources = BUILT_FROM.map(path => newest(join(root, path)))
  if (modified(join(root, 'dist', '.built')) >= Math.max(...sources)) return
  console.error('Building …')
  exitUnlessDone(await node(['scripts/build.mjs'], { stdio: ASIDE }))
}

function exitUnlessDone(code) {
  if (code !== 0) process.exit(code)
}

const modified = path => (existsSync(path) ? statSync(path).mtimeMs : 0)

function newest(path) {
  if (!statSync(path).isDirectory()) return modified(path)
  return Math.max(modified(path), ...readdirSync(path).map(name => newest(join(path, name))))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await installIfNeeded()
  if (!process.argv.includes('--no-build')) await buildIfNeeded()
}
