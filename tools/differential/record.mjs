#!/usr/bin/env node
// Records generated scenarios: what the reference answers to them, in the format of test/conformance. Only scenarios are kept
// that the reference answers alike twice, and that Binnacle answers alike.
//   node tools/differential/record.mjs --reference URL --server URL --token T --area A --count N --seed S --out FILE.json
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Client, differences } from '../../test/conformance/runner.mjs'
import { AREAS } from './areas.mjs'
import { answersOf, renamed, replaceText, unknownDifferences } from './compare.mjs'
import { isKnown } from './known-differences.mjs'
import { createRandom } from './random.mjs'
import { NAMESPACE, TOKEN } from './requests.mjs'

const { values: flags } = parseArgs({
  options: {
    reference: { type: 'string' },
    server: { type: 'string' },
    token: { type: 'string', default: 'admin-token' },
    area: { type: 'string' },
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '3' },
    out: { type: 'string' },
  },
})
const clients = ['reference', 'server'].map(
  name => new Client({ url: flags[name], token: flags.token, insecure: true }),
)
const [reference, subject] = clients
const recorded = new Map()

/** Names that last: the area and the number of the scenario instead of a run. They are as long as those of a run. */
const lastingToken = n => `${flags.area.slice(0, 2)}${String(n).padStart(4, '0')}`

/**
 * The answers under the lasting names. A run has names of its own, since it takes long until a namespace is gone and can
 * be created again.
 */
async function answers(client, scenario, n, wanted) {
  const own = renamed(scenario)
  const expected = wanted && replaceText(wanted, lastingToken(n), own.token)
  return replaceText(
    await answersOf(client, own, expected && (i => expected[i] && [expected[i]])),
    own.token,
    lastingToken(n),
  )
}

/** Which steps were answered differently for a known reason; undefined if one was for another reason. */
function varyingSteps(steps, first, others) {
  const varying = new Set()
  for (const [i, want] of first.entries()) {
    for (const results of others) {
      if (differences(results[i], want).length === 0 || steps[i].unchecked) continue
      if (unknownDifferences(steps[i], results[i], want, isKnown, steps.slice(0, i + 1)).length > 0) return undefined
      varying.add(i)
    }
  }
  return varying
}

/** How many of the steps must be compared for a scenario to be worth keeping. */
const MIN_COMPARED = 0.5

async function record(n) {
  const random = createRandom(Number(flags.seed) * 7919 + n)
  const ask = async step => reference.send(renamed({ steps: [step] }).steps[0])
  const scenario = await AREAS[flags.area](random, ask)
  const first = await answers(reference, scenario, n)
  if (first.some(({ broken }) => broken)) return
  const again = await answers(reference, scenario, n, first)
  const varying = varyingSteps(scenario.steps, first, [again, await answers(subject, scenario, n, first)])
  if (!varying || varying.size > first.length * (1 - MIN_COMPARED)) return
  const usesNamespace = JSON.stringify(scenario.steps).includes(NAMESPACE)
  const cleanup = [...(scenario.cleanup ?? []), ...(usesNamespace ? [`/api/v1/namespaces/${NAMESPACE}`] : [])]
  const steps = scenario.steps.map((step, i) =>
    recordedStep(varying.has(i) ? { ...step, unchecked: true } : step, first[i]),
  )
  const lasting = replaceText({ about: scenario.about, cleanup, steps }, TOKEN, lastingToken(n))
  recorded.set(n, { name: `own-${flags.area}/${flags.seed}-${n}`, ...lasting })
  write()
}

/** After each scenario, so that a run that is cut short leaves what it has. */
function write() {
  const lines = [...recorded].toSorted(([a], [b]) => a - b).map(([, scenario]) => JSON.stringify(scenario))
  writeFileSync(flags.out, `{"scenarios":[\n${lines.join(',\n')}\n]}\n`)
}

/** An `until` is code, so the recorded answer takes its place: the status and nothing else. */
function recordedStep({ until: _until, unchecked, ...step }, answer) {
  if (step.sleep || step.close) return step
  if (!unchecked) return { ...step, expect: answer }
  return { ...step, unchecked, ...(step.eventually && { expect: { status: answer.status } }) }
}

let next = 0
const job = async () => {
  while (recorded.size < Number(flags.count) && next < Number(flags.count) * 3) {
    const n = next++
    await record(n).catch(error => console.error(`${n}: ${error.message}`))
  }
}
await Promise.all(Array.from({ length: Number(flags.jobs) }, job))
console.log(`${recorded.size} scenarios of ${next} recorded`)
for (const client of clients) client.close()
