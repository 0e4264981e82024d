// `npm test`: everything that must hold, cheapest first. Arguments go to the test runner.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ensureComponents } from './components.mjs'
import { buildIfNeeded, installIfNeeded } from './prepare.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

function step(title, command, args) {
  console.log(`\n— ${title}`)
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  if (error) throw error
  if (status !== 0) {
    console.error(`\n${title}: failed`)
    process.exit(status ?? 1)
  }
}

const local = (title, program, ...args) => step(title, `${root}node_modules/.bin/${program}`, args)

installIfNeeded()
if (!ensureComponents()) process.exit(1)
local('types', 'tsc', '--noEmit')
local('lint', 'oxlint', '--type-aware', '--deny-warnings')
step('room boundaries', process.execPath, ['scripts/boundaries.mjs'])
local('format', 'biome', 'check')
buildIfNeeded()
local('tests', 'vitest', 'run', ...process.argv.slice(2))
