// The Pod Security Standards: which checks a level has in a version of the standards, and what a pod violates of them.
import { baselineChecks } from './baseline-checks.js'
import type { Check, PodLike, Violation } from './check.js'
import type { LevelVersion } from './policy.js'
import { restrictedChecks } from './restricted-checks.js'

/** What the pod violates, in the order in which it is told. */
export function violationsOf({ level, minor }: LevelVersion, pod: PodLike): Violation[] {
  return checksFor(level, minor).flatMap(check => check(pod) ?? [])
}

/** Each with its reasons: `host namespaces (hostNetwork=true), privileged (…)`. */
export const printViolations = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ')

type CheckPod = (pod: PodLike) => Violation | undefined

function checksFor(level: LevelVersion['level'], minor: number): readonly CheckPod[] {
  if (level === 'privileged') return []
  const key = `${level} ${Math.min(minor, NEWEST)}`
  let checks = known.get(key)
  if (!checks) known.set(key, (checks = selectChecks(level, minor)))
  return checks
}

const NEWEST = Math.max(
  ...[...baselineChecks, ...restrictedChecks].flatMap(({ since }) => since.map(([minor]) => minor)),
)
const known = new Map<string, readonly CheckPod[]>()

function selectChecks(level: 'baseline' | 'restricted', minor: number): readonly CheckPod[] {
  const restricted = level === 'restricted' ? restrictedChecks.filter(check => formOf(check, minor)) : []
  const given = new Set(restricted.flatMap(({ covers = [] }) => covers))
  const baseline = baselineChecks.filter(({ id }) => !given.has(id))
  return [...byId(baseline), ...byId(restricted)].flatMap(check => formOf(check, minor) ?? [])
}

/** The form that a check had in a version; none before it came to be. */
const formOf = ({ since }: Check, minor: number): CheckPod | undefined => since.findLast(([from]) => from <= minor)?.[1]

const byId = (checks: readonly Check[]): Check[] => checks.toSorted((a, b) => (a.id < b.id ? -1 : 1))
