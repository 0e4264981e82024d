// What keeps an autoscaler from following its metrics at once: recent recommendations, the rates of its behavior, and its
// minimum and maximum.
import type { Autoscaler, ScalingRules } from '../api/objects.js'

/** Without a behavior: the highest recommendation of this time counts. */
const DOWNSCALE_MS = 300_000
const UP_FACTOR = 2
const UP_MINIMUM = 4

/** What the controller remembers of an autoscaler. A restart forgets it, as one of kube-controller-manager does. */
export interface ScaleHistory {
  recommendations: { readonly replicas: number; readonly at: number }[]
  ups: ScaleEvent[]
  downs: ScaleEvent[]
}

interface ScaleEvent {
  readonly change: number
  readonly at: number
}

export interface Limited {
  readonly replicas: number
  /** The reasons and messages of the conditions AbleToScale and ScalingLimited. */
  readonly able: Why
  readonly limited: Why & { readonly status: 'True' | 'False' }
}

interface Why {
  readonly reason: string
  readonly message: string
}

interface Wanted {
  readonly current: number
  readonly desired: number
  readonly min: number
  readonly max: number
  readonly now: number
}

/** Notes the recommendation, and answers how many replicas there may be now. */
export function limitReplicas({ spec }: Autoscaler, history: ScaleHistory, wanted: Wanted): Limited {
  const { behavior } = spec
  const stabilized = behavior ? stabilizeBoth(behavior, history, wanted) : stabilizeDown(history, wanted)
  history.recommendations.push({ replicas: wanted.desired, at: wanted.now })
  const next = { ...wanted, desired: stabilized.replicas }
  const { replicas, ...why } = behavior ? withinRates(behavior, history, next) : withinRange(next)
  return {
    replicas,
    able:
      stabilized.replicas === wanted.desired
        ? { reason: 'ReadyForNewScale', message: 'recommended size matches current size' }
        : stabilized,
    limited: { ...why, status: replicas === stabilized.replicas ? 'False' : 'True' },
  }
}

/** Notes a change of the replicas, for the rates. */
export function noteScale(
  { spec: { behavior } }: Autoscaler,
  history: ScaleHistory,
  change: number,
  now: number,
): void {
  if (!behavior) return
  const isUp = change > 0
  const { policies = [] } = (isUp ? behavior.scaleUp : behavior.scaleDown) ?? {}
  const longest = Math.max(0, ...policies.map(({ periodSeconds }) => periodSeconds)) * 1000
  const events = (isUp ? history.ups : history.downs).filter(({ at }) => at >= now - longest)
  events.push({ change: Math.abs(change), at: now })
  if (isUp) history.ups = events
  else history.downs = events
}

const HIGHEST = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
}
const LOWEST = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
}

function stabilizeDown(history: ScaleHistory, { desired, now }: Wanted): Why & { readonly replicas: number } {
  history.recommendations = history.recommendations.filter(({ at }) => at >= now - DOWNSCALE_MS)
  return { ...HIGHEST, replicas: Math.max(desired, ...history.recommendations.map(({ replicas }) => replicas)) }
}

function stabilizeBoth(
  { scaleUp, scaleDown }: NonNullable<Autoscaler['spec']['behavior']>,
  history: ScaleHistory,
  { current, desired, now }: Wanted,
): Why & { readonly replicas: number } {
  const upMs = (scaleUp?.stabilizationWindowSeconds ?? 0) * 1000
  const downMs = (scaleDown?.stabilizationWindowSeconds ?? DOWNSCALE_MS / 1000) * 1000
  history.recommendations = history.recommendations.filter(({ at }) => at >= now - Math.max(upMs, downMs))
  const since = (ms: number): number[] =>
    history.recommendations.filter(({ at }) => at > now - ms).map(({ replicas }) => replicas)
  const lowest = Math.min(desired, ...since(upMs))
  const highest = Math.max(desired, ...since(downMs))
  return { ...(desired >= current ? LOWEST : HIGHEST), replicas: Math.min(Math.max(current, lowest), highest) }
}

const WITHIN = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' }
const TOO_FEW = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
}
const TOO_MANY = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
}
const TOO_FAST_UP = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
}
const TOO_FAST_DOWN = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
}

function withinRange({ current, desired, min, max }: Wanted): Why & { readonly replicas: number } {
  const rate = Math.trunc(Math.max(UP_FACTOR * current, UP_MINIMUM))
  const highest = Math.min(max, rate)
  if (desired < min) return { ...TOO_FEW, replicas: min }
  if (desired > highest) return { ...(max > rate ? TOO_FAST_UP : TOO_MANY), replicas: highest }
  return { ...WITHIN, replicas: desired }
}

function withinRates(
  { scaleUp = {}, scaleDown = {} }: NonNullable<Autoscaler['spec']['behavior']>,
  history: ScaleHistory,
  { current, desired, min, max, now }: Wanted,
): Why & { readonly replicas: number } {
  if (desired > current) {
    const rate = Math.max(current, rateOf(scaleUp, 'up', history, current, now))
    const highest = Math.min(max, rate)
    if (desired > highest) return { ...(max > rate ? TOO_FAST_UP : TOO_MANY), replicas: highest }
  } else if (desired < current) {
    const rate = Math.min(current, rateOf(scaleDown, 'down', history, current, now))
    const lowest = Math.max(min, rate)
    if (desired < lowest) return { ...(min < rate ? TOO_FAST_DOWN : TOO_FEW), replicas: lowest }
  }
  return { ...WITHIN, replicas: desired }
}

/** How many replicas the policies allow by now, from those at the begin of the period of each. */
function rateOf(
  { selectPolicy, policies = [] }: ScalingRules,
  direction: 'up' | 'down',
  { ups, downs }: ScaleHistory,
  current: number,
  now: number,
): number {
  if (selectPolicy === 'Disabled') return current
  const changed = (events: readonly ScaleEvent[], seconds: number): number =>
    events.filter(({ at }) => at > now - seconds * 1000).reduce((sum, { change }) => sum + change, 0)
  const allowed = policies.map(({ type, value, periodSeconds }) => {
    const before = current - changed(ups, periodSeconds) + changed(downs, periodSeconds)
    if (direction === 'up') return type === 'Pods' ? before + value : Math.ceil(before * (1 + value / 100))
    return type === 'Pods' ? before - value : Math.trunc(before * (1 - value / 100))
  })
  const takesHighest = (direction === 'up') !== (selectPolicy === 'Min')
  return takesHighest ? Math.max(...allowed) : Math.min(...allowed)
}
