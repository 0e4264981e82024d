// `npm run fuzz -- --requests 200000 --seed 7`: sends generated requests to a server. Without a seed a new one is taken and
// printed, so that a failure can be repeated.
// `npm run fuzz -- --shapes` measures large objects of every shape instead; `--only` is a regular expression of their names.
import { parseArgs } from 'node:util'
import { buildIfNeeded } from './prepare.mjs'
import { node, programOf } from './programs.mjs'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '200000' },
    seed: { type: 'string' },
    shapes: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
})
if (values.shapes) process.env.FUZZ_SHAPES = values.only
else {
  const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31))
  console.log(`${values.requests} requests, seed ${seed}`)
  process.env.FUZZ_REQUESTS = values.requests
  process.env.FUZZ_SEED = seed
}
await buildIfNeeded()
const file = values.shapes ? 'test/fuzz/shapes' : 'test/fuzz/fuzz'
process.exit(await node([programOf('vitest'), 'run', file, '--disable-console-intercept']))
