#!/usr/bin/env node
// The differential tester: sends the same generated work to a reference server and to Binnacle and compares every answer.
// `npm run differential -- --help`
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from '../../test/conformance/runner.mjs'
import { startWebhooks } from '../../test/conformance/webhooks.mjs'
import { AREAS } from './areas.mjs'
import { OPTIONAL_RESOURCES, RESOURCES, samplesOf } from './builtin-values.mjs'
import { answersOf, cleanUp, firstDifference, renamed } from './compare.mjs'
import { compareFields } from './fields.mjs'
import { isKnown } from './known-differences.mjs'
import { brokenLaws, checkCollection } from './laws.mjs'
import { compareManifests, readManifests } from './manifests.mjs'
import { createRandom } from './random.mjs'
import { createRecorder } from './record-fields.mjs'
import { shrink, signatureOf } from './shrink.mjs'

const { values: flags } = parseArgs({
  options: {
    reference: { type: 'string' },
    server: { type: 'string' },
    token: { type: 'string' },
    'server-token': { type: 'string' },
    seed: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    area: { type: 'string' },
    jobs: { type: 'string', default: '4' },
    manifests: { type: 'string' },
    fields: { type: 'string' },
    record: { type: 'string' },
    changes: { type: 'string', default: 'values' },
    verbs: { type: 'string', default: 'create,update,status' },
    out: { type: 'string', default: 'differences' },
    only: { type: 'string' },
    help: { type: 'boolean' },
  },
})
if (flags.help) {
  console.log(`usage: npm run differential -- [--reference URL --token T] [--server URL [--server-token T]] [--seed N] [--minutes M]
       [--area ${Object.keys(AREAS).join('|')}] [--jobs N] [--only N] [--manifests FOLDER] [--out FOLDER]
       [--fields PATTERN [--verbs create,update,status] [--changes values|empty] [--record FILE]]

Sends generated requests to both servers and writes each difference, made as small as possible, as a recording into --out.
Without --reference it checks laws: no 500 that is a bug, a get shows what a write answered, a list equals its pages, a watch
equals the list. Without --server it starts a server of its own. --seed repeats the work of an earlier run, --only one scenario of it.`)
  process.exit(0)
}

const seed = Number(flags.seed ?? Date.now() % 1_000_000)
const started = flags.server ? undefined : await (await import('./own-server.mjs')).startOwnServer()
const subject = new Client({
  url: flags.server ?? started.url,
  token: flags['server-token'] ?? flags.token ?? 'admin-token',
  insecure: true,
})
const reference =
  flags.reference && new Client({ url: flags.reference, token: flags.token ?? 'admin-token', insecure: true })
const webhooks = await startWebhooks(0)
const tally = { scenarios: 0, requests: 0, differences: 0 }
const seen = new Map()
mkdirSync(flags.out, { recursive: true })

/** Writes a difference once for each kind of difference. */
function report(name, difference, scenario) {
  const signature = `${difference.of ?? ''} ${signatureOf(difference)}`
  const count = (seen.get(signature) ?? 0) + 1
  seen.set(signature, count)
  if (count > 1) return
  tally.differences++
  const { step, found } = difference
  console.log(
    `\nDIFFERENCE ${name}\n  ${step.method ?? 'watch'} ${step.path ?? ''}\n${found
      .slice(0, 4)
      .map(text => `  ${text.slice(0, 700)}`)
      .join('\n')}`,
  )
  writeFileSync(
    join(flags.out, `${name.replaceAll('/', '-')}.json`),
    `${JSON.stringify({ scenarios: [{ name, ...scenario }], ...difference }, null, 1)}\n`,
  )
}

async function runOne(area, n) {
  const random = createRandom(seed * 1_000_003 + n * 8191 + area.length)
  const source = reference ?? subject
  const ask = async step => source.send(renamed({ steps: [step] }).steps[0])
  const name = `${area}/${seed}-${n}`
  const scenario = { name, ...(await AREAS[area](random, ask)) }
  tally.scenarios++
  tally.requests += scenario.steps.length
  if (!reference) return checkLaws(name, scenario)
  const differs = candidate => firstDifference({ reference, subject, webhooks }, candidate, isKnown)
  const first = await differs(scenario)
  if (!first) return
  // What does not happen twice was chance: the reference is slow at times.
  const again = await differs(scenario)
  if (!again || signatureOf(again) !== signatureOf(first) || seen.has(signatureOf(first))) return
  const { scenario: smallest, difference } = await shrink(scenario, again, differs)
  report(name, difference, smallest)
}

async function checkLaws(name, scenario) {
  const own = renamed(scenario, webhooks)
  const broken = brokenLaws(own, await answersOf(subject, own, undefined, { isKept: true, webhooks }))
  const paths = new Set(
    own.steps.flatMap(({ method, path }) =>
      method === 'POST' && path.includes('/namespaces/') ? [path.split('?')[0]] : [],
    ),
  )
  for (const path of paths) broken.push(...(await checkCollection(subject, path)))
  await cleanUp(subject, own)
  for (const text of broken)
    report(name, { index: 0, step: { path: text }, got: {}, want: {}, found: [text] }, scenario)
}

async function runGenerated() {
  const areas = flags.area ? flags.area.split(',') : Object.keys(AREAS)
  const end = Date.now() + Number(flags.minutes) * 60_000
  let n = flags.only ? Number(flags.only) : 0
  const job = async () => {
    while (Date.now() < end) {
      const mine = n++
      await runOne(areas[mine % areas.length], mine).catch(error =>
        console.error(`scenario ${mine} broke off: ${error.stack}`),
      )
      if (flags.only) return
    }
  }
  await Promise.all(Array.from({ length: flags.only ? 1 : Number(flags.jobs) }, job))
}

async function runManifests() {
  if (!reference) throw new Error('--manifests needs --reference')
  const found = await readManifests(flags.manifests)
  let n = 0
  tally.requests = await compareManifests({ reference, subject }, found, {
    isKnown,
    report: difference => report(`manifests/${n++}`, difference, { about: difference.file, steps: [difference.step] }),
  })
  tally.scenarios = found.length
}

/** Kinds whose `apiVersion Kind` matches, field by field. */
async function runFields() {
  if (!reference) throw new Error('--fields needs --reference')
  const pattern = new RegExp(flags.fields)
  const recorder = flags.record && createRecorder()
  const matching = [...RESOURCES, ...OPTIONAL_RESOURCES].filter(({ apiVersion, kind }) =>
    pattern.test(`${apiVersion} ${kind}`),
  )
  for (const resource of matching) {
    const of = `${resource.apiVersion.replace('/', '-')}-${resource.kind}`
    const fieldOf = ({ want, got }) =>
      [want, got].map(each => each?.body?.details?.causes?.[0]?.field?.replace(/\d+/g, '')).join()
    let n = 0
    tally.scenarios++
    tally.requests += await compareFields({ reference, subject }, resource, samplesOf(resource), {
      isKnown,
      keep: recorder?.keep,
      verbs: flags.verbs.split(','),
      changes: flags.changes,
      report: difference =>
        report(
          `fields/${of}-${n++}`,
          { ...difference, of: `${of} ${fieldOf(difference)}` },
          { steps: [difference.step] },
        ),
    })
  }
  if (recorder) console.log(`${recorder.write(flags.record)} scenarios recorded`)
}

console.log(`seed ${seed}`)
await (flags.manifests ? runManifests() : flags.fields ? runFields() : runGenerated())
const repeated = [...seen.values()].reduce((sum, count) => sum + count, 0)
console.log(
  `\n${tally.scenarios} scenarios, ${tally.requests} requests, ${tally.differences} kinds of difference (${repeated} in all), seed ${seed}`,
)
subject.close()
webhooks.close()
if (reference) reference.close()
await started?.stop()
process.exit(tally.differences > 0 ? 1 : 0)
