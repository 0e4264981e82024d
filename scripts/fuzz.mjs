// `npm run fuzz -- --requests 200000 --seed 7`: sends generated requests to a server. Without a seed a new one is taken and
// printed, so that a failure can be repeated.
import { parseArgs } from 'node:util'
import { buildIfNeeded } from './prepare.mjs'
import { node, programOf } from './programs.mjs'

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '200000' }, seed: { type: 'string' } },
})
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31))
console.log(`${values.requests} requests, seed ${seed}`)
process.env.FUZZ_REQUESTS = values.requests
process.env.FUZZ_SEED = seed
await buildIfNeeded()
process.exit(await node([programOf('vitest'), 'run', 'test/fuzz', '--disable-console-intercept']))
