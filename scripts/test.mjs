// `npm test`: types, lint, boundaries, format and all tests, cheapest first. Arguments go to the test runner.
// `npm run test:unit`: only the tests beside the code.
import { ensureComponents } from './components.mjs'
import { buildIfNeeded, installIfNeeded } from './prepare.mjs'
import { node, programOf } from './programs.mjs'
import { runTests } from './run-tests.mjs'

const step = (title, ...args) => run(title, () => node(args))

async function run(title, work) {
  console.log(`\n— ${title}`)
  const code = await work()
  if (code === 0) return
  console.error(`\n${title}: failed`)
  process.exit(code)
}

const [first, ...rest] = process.argv.slice(2)

await installIfNeeded()
if (first === 'unit') {
  await step('unit tests', programOf('vitest'), 'run', '--project', 'unit', '--maxWorkers=100%', ...rest)
  process.exit()
}
if (!ensureComponents()) process.exit(1)
await step('types', programOf('typescript', 'tsc'), '--noEmit')
await step('types of the console', programOf('typescript', 'tsc'), '--noEmit', '-p', 'console')
await step('lint', programOf('oxlint'), '--type-aware', '--deny-warnings')
await step('room boundaries', 'scripts/boundaries.mjs')
await step('format', programOf('@biomejs/biome', 'biome'), 'check')
await buildIfNeeded()
await run('tests', () => runTests(process.argv.slice(2)))
