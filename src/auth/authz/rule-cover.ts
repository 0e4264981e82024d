// Whether rules grant what other rules grant.
import type { PolicyRule } from './rbac.js'

/**
 * What is granted by `wanted` and not by `owned`, as rules of one group, resource, verb and name each; not all of it if it
 * is very much.
 */
export function uncoveredRules(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const uncovered: PolicyRule[] = []
  for (const rule of wanted.map(withoutNulls)) {
    // Most rules are granted by one rule as a whole.
    if (owned.some(each => covers(each, rule))) continue
    if (partsOf(rule) > MAX_PARTS) uncovered.push(rule)
    else for (const part of breakDown(rule)) if (!owned.some(each => covers(each, part))) uncovered.push(part)
    if (uncovered.length > MAX_UNCOVERED) break
  }
  return uncovered
}

/** The rules of a request are not validated yet: a list may be null. */
const withoutNulls = (rule: PolicyRule): PolicyRule =>
  Object.fromEntries(Object.entries(rule).filter(([, texts]) => (texts as unknown) !== null))

/** The parts of a rule multiply: it is not broken down into more than these, and counts as not granted. */
const MAX_PARTS = 50_000
/** After these the answer is known. */
const MAX_UNCOVERED = 10_000

function partsOf({ apiGroups, resources, resourceNames, nonResourceURLs, verbs }: PolicyRule): number {
  const count = (texts: readonly string[] | undefined): number => texts?.length ?? 0
  const names = Math.max(1, count(resourceNames))
  return count(verbs) * (count(apiGroups) * count(resources) * names + count(nonResourceURLs))
}

/** A rule as rules of one group, resource, verb and name each. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [], verbs = [] } = rule
  const simple: PolicyRule[] = []
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const one = { apiGroups: [group], resources: [resource], verbs: [verb] }
        if (resourceNames.length === 0) simple.push(one)
        else for (const name of resourceNames) simple.push({ ...one, resourceNames: [name] })
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) simple.push({ nonResourceURLs: [url], verbs: [verb] })
  return simple
}

/** Whether a rule allows all that a broken-down rule allows. */
function covers(owned: PolicyRule, wanted: PolicyRule): boolean {
  const names = owned.resourceNames ?? []
  return (
    hasAll(owned.verbs, wanted.verbs) &&
    hasAll(owned.apiGroups, wanted.apiGroups) &&
    (wanted.resources ?? []).every(resource => coversResource(owned.resources ?? [], resource)) &&
    (names.length === 0 ||
      (Boolean(wanted.resourceNames?.length) && wanted.resourceNames!.every(each => names.includes(each)))) &&
    (wanted.nonResourceURLs ?? []).every(url => (owned.nonResourceURLs ?? []).some(pattern => coversUrl(pattern, url)))
  )
}

const hasAll = (owned: readonly string[] = [], wanted: readonly string[] = []): boolean =>
  owned.includes('*') || wanted.every(each => owned.includes(each))

function coversResource(owned: readonly string[], wanted: string): boolean {
  if (owned.includes('*') || owned.includes(wanted)) return true
  const slash = wanted.indexOf('/')
  return slash > 0 && owned.includes(`*${wanted.slice(slash)}`)
}

const coversUrl = (pattern: string, url: string): boolean =>
  pattern === url || (pattern.endsWith('*') && url.startsWith(withoutStars(pattern)))

function withoutStars(pattern: string): string {
  let end = pattern.length
  while (end > 0 && pattern[end - 1] === '*') end--
  return pattern.slice(0, end)
}
