// `npm test`: everything that must hold, cheapest first. Arguments go to the test runner.
// `npm run test:unit`: only the tests that stand beside the code.
import { ensureComponents } from './components.mjs'
import { buildIfNeeded, installIfNeeded } from './prepare.mjs'
import { node, programOf } from './programs.mjs'

async function step(title, ...args) {
  console.log(`\n— ${title}`)
  const code = await node(args)
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
await step('lint', programOf('oxlint'), '--type-aware', '--deny-warnings')
await step('room boundaries', 'scripts/boundaries.mjs')
await step('format', programOf('@biomejs/biome', 'biome'), 'check')
await buildIfNeeded()
await step('tests', programOf('vitest'), 'run', ...process.argv.slice(2))
