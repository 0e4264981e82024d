// Makes a failing scenario small: steps first, then the parts of their bodies, as long as the same difference stays.
import { placesOf } from './mutations.mjs'

/** How often a scenario is tried while it is shrunk. */
const MAX_TRIES = 60

/**
 * The smallest scenario found for which `differs` resolves with a difference like the first one.
 * @param {(scenario: object) => Promise<{ index: number, found: string[] } | undefined>} differs
 */
export async function shrink(scenario, difference, differs) {
  let tries = 0
  let smallest = scenario
  let last = difference
  const signature = signatureOf(difference)
  const attempt = async candidate => {
    if (tries++ >= MAX_TRIES) return false
    const found = await differs(candidate)
    if (!found || signatureOf(found) !== signature) return false
    smallest = { ...candidate, steps: candidate.steps.slice(0, found.index + 1) }
    last = found
    return true
  }
  smallest = { ...scenario, steps: scenario.steps.slice(0, difference.index + 1) }
  // Half of the steps at once, then fewer: most have nothing to do with the difference.
  for (let size = Math.ceil((smallest.steps.length - 1) / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let end = smallest.steps.length - 1; end > 0; end -= size)
      await attempt(withoutRange(smallest, Math.max(end - size, 0), end))
  }
  await shrinkBodies(
    () => smallest,
    attempt,
    () => tries < MAX_TRIES,
  )
  return { scenario: smallest, difference: last }
}

/** What makes two differences the same: where they are and of what kind, not the values. */
export const signatureOf = ({ got, want, found }) =>
  [
    got?.status,
    want?.status,
    (found[0] ?? '').split(': got')[0].replace(/\/\d+/g, '/#').slice(0, 80),
    causeOf(want),
  ].join(' ')

const causeOf = want =>
  String(want?.body?.message ?? '')
    .replace(/"[^"]*"|\d+|z[0-9a-z]{5}/g, '')
    .slice(0, 60)

/** The scenario without one step. References to later steps are moved. */
export function without({ steps, ...rest }, index) {
  const moved = text => text.replace(/\{\{(\d+)\./g, (_, n) => `{{${+n > index ? n - 1 : n}.`)
  const walk = value =>
    typeof value === 'string'
      ? moved(value)
      : Array.isArray(value)
        ? value.map(walk)
        : value !== null && typeof value === 'object'
          ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, walk(member)]))
          : value
  return { ...rest, steps: steps.filter((_, i) => i !== index).map(walk) }
}

const withoutRange = (scenario, start, end) =>
  Array.from({ length: end - start }).reduce((rest, _, i) => without(rest, end - 1 - i), scenario)

async function shrinkBodies(current, attempt, mayTry) {
  for (let i = 0; i < current().steps.length; i++) {
    for (let place = 0; mayTry() && place < placesOf(current().steps[i]?.body ?? null).length; ) {
      const candidate = structuredCopy(current())
      const { holder, key } = placesOf(candidate.steps[i].body)[place]
      if (KEPT.has(key)) {
        place++
        continue
      }
      if (Array.isArray(holder)) holder.splice(Number(key), 1)
      else delete holder[key]
      if (!(await attempt(candidate))) place++
    }
  }
}

/** What restricts a policy to the namespace of its scenario. */
const KEPT = new Set(['namespaceSelector', 'matchLabels', 'kubernetes.io/metadata.name', 'matchConstraints'])

/** A copy that keeps functions. */
const structuredCopy = value =>
  Array.isArray(value)
    ? value.map(structuredCopy)
    : value !== null && typeof value === 'object'
      ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, structuredCopy(member)]))
      : value
