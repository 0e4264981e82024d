// Conditions over time: from the revisions that the server still has, or from the times of their last transitions alone.
import type { ApiObject } from '../../api/resource.js'

export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string | undefined
}

export interface Segment {
  readonly status: string
  readonly reason: string
  readonly from: number
  readonly to: number
}

export interface ConditionLine {
  readonly condition: Condition
  readonly segments: readonly Segment[]
}

export function conditionsOf(object: ApiObject): readonly Condition[] {
  const status = object['status'] as { conditions?: unknown } | undefined
  if (!Array.isArray(status?.conditions)) return []
  return (status.conditions as Record<string, unknown>[])
    .filter(each => typeof each === 'object' && each !== null)
    .map(each => ({
      type: text(each['type']),
      status: text(each['status']),
      reason: text(each['reason']),
      message: text(each['message']),
      lastTransitionTime: text(each['lastTransitionTime']) || undefined,
    }))
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** `revisions` newest first. A condition starts where it last changed; earlier states come from earlier revisions. */
export function conditionLines(
  object: ApiObject,
  revisions: readonly ApiObject[],
  now: number,
): readonly ConditionLine[] {
  const created = Date.parse(object.metadata.creationTimestamp ?? '') || now
  return conditionsOf(object).map(current => {
    const segments: Segment[] = []
    let end = now
    let from = startOf(current, created)
    let shown: Condition = current
    for (const revision of revisions) {
      const earlier = conditionsOf(revision).find(({ type }) => type === current.type)
      if (earlier === undefined) break
      const start = startOf(earlier, created)
      if (earlier.status === shown.status || start >= from) continue
      segments.unshift({ status: shown.status, reason: shown.reason, from, to: end })
      ;[end, from, shown] = [from, start, earlier]
    }
    segments.unshift({ status: shown.status, reason: shown.reason, from, to: end })
    return { condition: current, segments }
  })
}

function startOf({ lastTransitionTime }: Condition, fallback: number): number {
  const time = Date.parse(lastTransitionTime ?? '')
  return Number.isNaN(time) ? fallback : time
}

/** Whether the status of a condition is good. Most are good when True; those that name a trouble are not. */
export function isGood({ type, status }: Pick<Condition, 'type' | 'status'>): boolean | undefined {
  if (status !== 'True' && status !== 'False') return undefined
  const namesTrouble =
    /(pressure|failure|failed|error|degraded|unavailable|stalled|conflict|terminating|violat|remaining|invalid|nonstructural)/i.test(
      type,
    )
  return (status === 'True') !== namesTrouble
}
