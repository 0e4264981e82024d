// The Pod Security Standards: the checks of a level in a version, and the violations of a pod.
import { baselineChecks } from './baseline-checks.js'
import type { Check, PodLike, Violation } from './check.js'
import type { LevelVersion } from './policy.js'
import { restrictedChecks } from './restricted-checks.js'

/** The violations of a pod, in the order of the message. */
export function violationsOf({ level, minor }: LevelVersion, pod: PodLike): Violation[] {
  return checksFor(level, minor).flatMap(check => check(pod) ?? [])
}

/** Each with its details: `host namespaces (hostNetwork=true), privileged (…)`. */
export const printViolations = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ')

type CheckPod = (pod: PodLike) => Violation | undefined

function checksFor(level: LevelVersion['level'], minor: number): readonly CheckPod[] {
  if (level === 'privileged') return []
  const key = `${level} ${Math.min(minor, NEWEST)}`
  let checks = cached.get(key)
  if (!checks) cached.set(key, (checks = selectChecks(level, minor)))
  return checks
}

const NEWEST = Math.max(
  ...[...baselineChecks, ...restrictedChecks].flatMap(({ since }) => since.map(([minor]) => minor)),
)
const cached = new Map<string, readonly CheckPod[]>()

function selectChecks(level: 'baseline' | 'restricted', minor: number): readonly CheckPod[] {
  const restricted = level === 'restricted' ? restrictedChecks.filter(check => checkIn(check, minor)) : []
  const included = new Set(restricted.flatMap(({ covers = [] }) => covers))
  const baseline = baselineChecks.filter(({ id }) => !included.has(id))
  return [...byId(baseline), ...byId(restricted)].flatMap(check => checkIn(check, minor) ?? [])
}

/** The check as it was in a version; undefined if it did not exist yet. */
const checkIn = ({ since }: Check, minor: number): CheckPod | undefined =>
  since.findLast(([from]) => from <= minor)?.[1]

const byId = (checks: readonly Check[]): Check[] => checks.toSorted((a, b) => (a.id < b.id ? -1 : 1))
