// `npm run test:clients`: the tests of the packages in clients/, each with its own toolchain, on the executable of this
// clone. A toolchain that is missing is said aloud, and its tests are skipped.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { buildIfNeeded, installIfNeeded } from './prepare.mjs'
import { programOf, root } from './programs.mjs'

const SUITES = [
  {
    language: 'Node.js',
    folder: 'javascript',
    probe: [process.execPath, '--version'],
    run: [process.execPath, 'run.mjs'],
  },
  {
    language: 'Node.js',
    name: '1,000 servers, and 1,000 copies of one, without a leak',
    folder: '..',
    probe: [process.execPath, '--version'],
    run: [process.execPath, programOf('vitest'), 'run', 'test/testing/leaks'],
    env: { BINNACLE_STARTS: '1000', BINNACLE_COPIES: '1000' },
  },
  { language: 'Go', folder: 'go', probe: ['go', 'version'], run: ['go', 'test', './...'] },
  {
    language: 'Go',
    name: "an operator's test, on envtest",
    folder: '../test/envtest/go',
    probe: ['go', 'version'],
    run: ['go', 'test', './...'],
  },
  {
    language: 'Python',
    folder: 'python',
    probe: ['python3', '-c', 'import pytest'],
    run: ['python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-p', 'binnacle_testing.plugin', 'tests'],
    env: { PYTHONPATH: 'src', PYTHONDONTWRITEBYTECODE: '1' },
  },
  { language: 'Java', folder: 'java', probe: ['mvn', '--version'], run: ['mvn', '--quiet', '--batch-mode', 'test'] },
  { language: 'Rust', folder: 'rust', probe: ['cargo', '--version'], run: ['cargo', 'test', '--quiet'] },
]

await installIfNeeded()
await buildIfNeeded()
const env = { ...process.env, BINNACLE: `${process.execPath} ${join(root, 'bin', 'binnacle')}` }
let failed = false
for (const { language, folder, name = `clients/${folder}`, probe, run, env: more } of SUITES) {
  const [program, ...args] = probe
  if (spawnSync(program, args, { stdio: 'ignore' }).status !== 0) {
    console.error(`\n*** SKIPPED: the tests of clients/${folder} need ${language} (${probe.join(' ')} failed) ***\n`)
    continue
  }
  console.log(`\n— ${name}`)
  const [runner, ...rest] = run
  const options = { cwd: join(root, 'clients', folder), stdio: 'inherit', env: { ...env, ...more } }
  if (spawnSync(runner, rest, options).status !== 0) failed = true
}
process.exitCode = failed ? 1 : 0
