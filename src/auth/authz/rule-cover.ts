// Whether rules grant what other rules grant.
import type { PolicyRule } from './rbac.js'

/** What is granted by `wanted` and not by `owned`, as rules of one group, resource, verb and name each. */
export const uncoveredRules = (owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] =>
  wanted.flatMap(breakDown).filter(rule => !owned.some(each => covers(each, rule)))

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
  pattern === url || (pattern.endsWith('*') && url.startsWith(pattern.replace(/\*+$/, '')))
