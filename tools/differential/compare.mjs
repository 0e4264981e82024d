// Runs one scenario on two servers and compares the answers, by the rules of test/conformance.
import { randomInt } from 'node:crypto'
import { differences, runScenario } from '../../test/conformance/runner.mjs'
import { TOKEN, WEBHOOK_PORT } from './requests.mjs'

/** Several testers may run at once, so each starts elsewhere. */
let runs = randomInt(36 ** 5)

/** The scenario with names that no run had before, and the port of the webhooks. Functions (`until`) are kept. */
export function renamed(scenario, webhooks) {
  const token = `z${(runs++ % 36 ** 5).toString(36).padStart(5, '0')}`
  const named = withFreshAddresses(replaceText(scenario, TOKEN, token))
  return { ...(webhooks ? replaceText(named, `:${WEBHOOK_PORT}`, `:${webhooks.port}`) : named), token }
}

const FIRST_NODE_PORT = 30_000
const NODE_PORTS = 2768

/**
 * A copy in which Services name other addresses and ports of the ranges, each always in the place of the same one: those of
 * another scenario may still be taken on one of the servers.
 */
function withFreshAddresses(scenario) {
  const fresh = new Map()
  const of = value => {
    if (typeof value === 'string' && /^10\.0\.0\.\d+$/.test(value)) return `10.0.0.${2 + randomInt(250)}`
    const isNodePort = Number.isInteger(value) && value >= FIRST_NODE_PORT && value < FIRST_NODE_PORT + NODE_PORTS
    return isNodePort ? FIRST_NODE_PORT + randomInt(NODE_PORTS) : value
  }
  const replaced = value => {
    if (!fresh.has(value)) fresh.set(value, of(value))
    return fresh.get(value)
  }
  const walk = (value, name) => {
    if (Array.isArray(value)) return value.map(item => walk(item, name))
    if (value === null || typeof value !== 'object') return ASSIGNED.has(name) ? replaced(value) : value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, walk(member, key)]))
  }
  return walk(scenario)
}

const ASSIGNED = new Set(['clusterIP', 'clusterIPs', 'nodePort', 'healthCheckNodePort'])

/** A copy of a value in which one text stands for another, in keys, too. */
export function replaceText(value, from, to) {
  if (typeof value === 'string') return value.replaceAll(from, to)
  if (Array.isArray(value)) return value.map(item => replaceText(item, from, to))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [replaceText(key, from, to), replaceText(member, from, to)]),
  )
}

/**
 * Runs the steps and returns the answers; one that the server does not give is `{ broken: why }`. What the scenario made is
 * removed, unless it is to be kept.
 */
export async function answersOf(client, scenario, expected, { isKept = false, webhooks } = {}) {
  const results = []
  try {
    return await runScenario(client, scenario, {
      expected,
      onStep: (_, result) => void results.push(result),
      // Other scenarios run at the same time.
      webhooks: webhooks && { calls: () => webhooks.callsOf(scenario.token) },
    })
  } catch (error) {
    return [...results, { broken: String(error.message ?? error) }]
  } finally {
    if (!isKept) void cleanUp(client, scenario)
  }
}

/** Removes what the scenario made, without waiting: its names are not used again. */
export async function cleanUp(client, { cleanup = [], token }) {
  const paths = [...cleanup, `/api/v1/namespaces/n-${token}`]
  for (const path of paths) await client.send({ method: 'DELETE', path }).catch(() => {})
}

/**
 * The first step at which the two servers differ, or undefined. `isKnown` says which differences do not count.
 * @returns {Promise<{ index: number, step: object, got: object, want: object, found: string[] } | undefined>}
 */
export async function firstDifference({ reference, subject, webhooks }, scenario, isKnown) {
  const same = renamed(scenario, webhooks)
  const wanted = await answersOf(reference, same, undefined, { webhooks })
  // A step that is not compared is not repeated until it is equal.
  const expected = i => (same.steps[i]?.unchecked || !wanted[i] ? undefined : [wanted[i]])
  const got = await answersOf(subject, same, expected, { webhooks })
  for (const [index, want] of wanted.entries()) {
    if (scenario.steps[index]?.unchecked) continue
    const step = same.steps[index] ?? {}
    const before = same.steps.slice(0, index + 1)
    const found = unknownDifferences(step, got[index], want, isKnown, before)
    if (found.length > 0) return { index, step, got: got[index], want, found }
  }
  return undefined
}

/** The differences of two answers to a step that are not known. */
export const unknownDifferences = (step, got, want, isKnown, before = [step]) =>
  differences(comparable(got, step), comparable(want, step)).filter(text => !isKnown({ step, text, got, want, before }))

/**
 * An answer without what depends on the moment: the order of parallel calls; the order of managedFields follows the seconds at which they were written,
 * and text in YAML holds versions and times.
 */
function comparable(answer, step) {
  if (step.anyOrder && answer?.calls) return sortManagers({ calls: answer.calls.toSorted(byText) })
  if (typeof answer?.body === 'string') {
    const body = answer.body.replace(VARYING_TEXT, '$1: …').replace(/- 10\.0\.0\.\d+/g, '- …')
    // In YAML the groups of other scenarios are still there.
    return { ...answer, body: step.only ? body.replace(/^- name: z\w+\.example\.com\n(  .*\n)*/gm, '') : body }
  }
  return sortManagers(answer)
}

/** How the file of a Go scheme is printed depends on how the reference was built. */
const plainText = text =>
  text
    .replace(/in scheme \\?"[^"]*"/g, 'in scheme …')
    // Of an object that a message quotes.
    .replace(/(clusterIPs?\\*":\[?\\*")10\.[\d.]+/g, '$1…')
    .replace(/(nodePort\\*":)\d+/g, '$1…')
    .replace(/((?:resourceVersion|creationTimestamp|lastPhaseTransitionTime|time)\\*":\\*")\d[^"\\]*/g, '$1…')

const VARYING_TEXT =
  /(clusterIP|nodePort|resourceVersion|uid|creationTimestamp|lastPhaseTransitionTime|time|deletionTimestamp|continue): \S+/g

function sortManagers(value) {
  if (typeof value === 'string') return plainText(value)
  if (Array.isArray(value)) return value.map(sortManagers)
  if (value === null || typeof value !== 'object') return value
  const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, sortManagers(member)]))
  if (Array.isArray(copy.managedFields))
    copy.managedFields = copy.managedFields.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  return copy
}

const byText = (a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

const nameOf = entry => `${entry?.operation} ${entry?.manager} ${entry?.apiVersion} ${entry?.subresource}`
