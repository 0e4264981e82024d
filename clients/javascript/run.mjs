// Runs the example of each test runner on the package of this clone. A runner that cannot be installed is said aloud.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = dirname(fileURLToPath(import.meta.url))
const root = join(folder, '..', '..')
const bin = (name, from = folder) => join(from, 'node_modules', '.bin', name)
const esm = { NODE_OPTIONS: '--experimental-vm-modules' }

const vitest = file => ['run', '--root', folder, '--config', 'vitest.config.mjs', file]
const jest = pattern => ['--ci', '--silent', '--testMatch', pattern]

const RUNNERS = [
  { name: 'node:test', program: process.execPath, args: ['--test', 'tests/node.test.mjs'] },
  { name: 'Vitest', program: bin('vitest', root), args: vitest('tests/vitest.test.mjs') },
  { name: 'Jest (CommonJS)', program: bin('jest'), args: jest('**/jest.test.cjs') },
  { name: 'Jest (ESM)', program: bin('jest'), args: jest('**/jest.test.mjs'), env: esm },
  { name: 'Playwright', program: bin('playwright'), args: ['test', '--reporter=line', 'tests/playwright.spec.mjs'] },
  { name: 'Bun', program: bin('bun'), args: ['test', './tests/bun.test.mjs'] },
  {
    name: 'Deno',
    program: bin('deno'),
    args: ['test', '--allow-all', '--no-check', '--node-modules-dir=manual', 'tests/deno.test.mjs'],
  },
  // These tests fail, and must print what they asked for and what has changed.
  {
    name: 'node:test, failing',
    program: process.execPath,
    args: ['--test', 'tests/failing/node.mjs'],
    isFailing: true,
  },
  { name: 'Vitest, failing', program: bin('vitest', root), args: vitest('tests/failing/vitest.mjs'), isFailing: true },
  { name: 'Jest (CommonJS), failing', program: bin('jest'), args: jest('**/failing/jest.cjs'), isFailing: true },
  { name: 'Jest (ESM), failing', program: bin('jest'), args: jest('**/failing/jest.mjs'), env: esm, isFailing: true },
]

const REPORT =
  /API requests[^]* 201 PATCH \/api\/v1\/namespaces\/default\/configmaps\/settings[^]*created \/configmaps\/default\/settings/

if (!existsSync(bin('jest'))) {
  spawnSync('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
}
mkdirSync(join(folder, 'node_modules'), { recursive: true })
const own = join(folder, 'node_modules', 'binnacle')
if (!existsSync(own)) symlinkSync(root, own, 'junction')

let failed = false
const wanted = process.argv[2] ?? ''
for (const { name, program, args, env, isFailing = false } of RUNNERS.filter(each => each.name.startsWith(wanted))) {
  if (program !== process.execPath && spawnSync(program, ['--version'], { stdio: 'ignore' }).status !== 0) {
    console.error(`\n*** SKIPPED: ${name} is not installed here ***\n`)
    continue
  }
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    timeout: 300_000,
  })
  const isRight = isFailing ? status === 1 && REPORT.test(stdout + stderr) : status === 0
  console.log(`${isRight ? 'passed' : 'FAILED'}: ${name}`)
  if (isRight) continue
  failed = true
  console.error(stdout, stderr)
}
process.exitCode = failed ? 1 : 0
