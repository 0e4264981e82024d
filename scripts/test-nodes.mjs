// `npm run test:nodes`: the unit tests and those of the server, under each version of Node that we promise to run on.
// `npm run test:nodes -- 24` takes only that. The versions come as npm packages into node_modules/.cache; one that cannot
// be had is said aloud, and fails the run with CI=true.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { buildIfNeeded, installIfNeeded } from './prepare.mjs'
import { ASIDE, node, npm, programOf, root } from './programs.mjs'

const PROMISED = ['20', '22', '24', '26']

const RUNS = [
  ['--project', 'unit', '--maxWorkers=100%'],
  ['--project', 'integration', 'test/server'],
]

await installIfNeeded()
await buildIfNeeded()
const asked = process.argv.slice(2)
const outcomes = []
for (const major of asked.length > 0 ? asked : PROMISED) {
  const outcome = await testUnder(major)
  console.log(`\nNode ${major}: ${outcome}`)
  outcomes.push([major, outcome])
}
console.log(`\n${outcomes.map(([major, outcome]) => `Node ${major}: ${outcome}`).join('\n')}`)
const isWrong = outcome => outcome === 'failed' || (outcome !== 'passed' && process.env.CI === 'true')
if (outcomes.some(([, outcome]) => isWrong(outcome))) process.exitCode = 1

async function testUnder(major) {
  const executable = await executableOf(major)
  if (!executable) return 'MISSING: it could not be installed, and nothing was tested under it'
  const env = { ...process.env, PATH: `${dirname(executable)}${delimiter}${process.env.PATH}` }
  let outcome = 'passed'
  for (const args of RUNS) {
    console.log(`\n— Node ${major}: vitest run ${args.join(' ')}`)
    const code = await node([programOf('vitest'), 'run', ...args], { executable, env })
    if (code !== 0) outcome = 'failed'
  }
  return outcome
}

async function executableOf(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath
  const folder = join(root, 'node_modules', '.cache', 'nodes', major)
  const windows = process.platform === 'win32'
  const platform = `node-${windows ? 'win' : process.platform}-${process.arch}`
  const executable = join(folder, 'node_modules', platform, 'bin', windows ? 'node.exe' : 'node')
  if (existsSync(executable)) return executable
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n')
  const options = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
  await npm(['install', ...options, `${platform}@${major}`], { cwd: folder, stdio: ASIDE })
  return existsSync(executable) ? executable : undefined
}
