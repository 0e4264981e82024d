// How many replicas a metric asks for: the ratio of its usage to the target, with regard to pods that have not shown what
// they use. All amounts are in thousandths.
import { parseQuantity, scaledQuantity } from '../../meta/values/quantity.js'
import type { Container, Pod } from '../api/objects.js'
import { conditionOf, isReady, isTerminating, phaseOf } from '../common/conditions.js'

export interface Tolerance {
  readonly down: number
  readonly up: number
}

/** A pod that has never been ready does not count for so long after its start, and a recently started one while it is not. */
const CPU_INITIALIZATION_MS = 300_000
const INITIAL_READINESS_MS = 30_000
const MAX_INT32 = 2_147_483_647

export interface Proposal {
  readonly replicas: number
  /** What is used on average. */
  readonly usage: number
  /** In percent of what the pods ask for. */
  readonly utilization?: number
}

interface Sample {
  readonly pods: readonly Pod[]
  /** What each pod shows, by its name. */
  readonly metrics: ReadonlyMap<string, number>
  readonly current: number
  readonly tolerance: Tolerance
  /** Readiness counts for the processor only. */
  readonly isCpu: boolean
  readonly now: number
}

/** For a target per pod. Throws if no pod shows anything. */
export function countByAverage(sample: Sample, target: number): Proposal {
  const ratioOf = (metrics: ReadonlyMap<string, number>) => {
    const usage = Math.trunc(sum(metrics.values()) / metrics.size)
    return { ratio: usage / target, usage }
  }
  return count(sample, ratioOf, () => target)
}

/** For a target in percent of the requests, by the name of each pod. */
export function countByUtilization(sample: Sample, requests: ReadonlyMap<string, number>, target: number): Proposal {
  const ratioOf = (metrics: ReadonlyMap<string, number>) => {
    const known = [...metrics].filter(([name]) => requests.has(name))
    const used = sum(known.map(([, value]) => value))
    const requested = sum(known.map(([name]) => requests.get(name)!))
    if (requested === 0) throw new Error('no metrics returned matched known pods')
    const utilization = Math.trunc((used * 100) / requested)
    return { ratio: utilization / target, usage: Math.trunc(used / known.length), utilization }
  }
  return count(sample, ratioOf, name => Math.trunc((requests.get(name)! * Math.max(100, target)) / 100))
}

interface Ratio {
  readonly ratio: number
  readonly usage: number
  readonly utilization?: number
}

/** `full` is what a pod that shows nothing is taken to use where the others use little. */
function count(
  { pods, metrics: shown, current, tolerance, isCpu, now }: Sample,
  ratioOf: (metrics: ReadonlyMap<string, number>) => Ratio,
  full: (pod: string) => number,
): Proposal {
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count')
  const { ready, unready, missing, ignored } = groupPods(pods, shown, isCpu, now)
  const metrics = new Map([...shown].filter(([name]) => !ignored.has(name) && !unready.has(name)))
  if (metrics.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)')
  const { ratio, ...used } = ratioOf(metrics)
  const staying = { ...used, replicas: current }
  const growsWithUnready = unready.size > 0 && ratio > 1
  if (!growsWithUnready && missing.size === 0) {
    return isWithin(tolerance, ratio) ? staying : { ...used, replicas: Math.ceil(ratio * ready) }
  }
  if (ratio < 1) for (const name of missing) metrics.set(name, full(name))
  else if (ratio > 1) for (const name of missing) metrics.set(name, 0)
  if (growsWithUnready) for (const name of unready) metrics.set(name, 0)
  const next = ratioOf(metrics).ratio
  const replicas = Math.ceil(next * metrics.size)
  const turns = (ratio < 1 && next > 1) || (ratio > 1 && next < 1)
  const isAgainst = (next < 1 && replicas > current) || (next > 1 && replicas < current)
  return isWithin(tolerance, next) || turns || isAgainst ? staying : { ...used, replicas }
}

/** For a value that is not about pods, and a target for it. */
export function countByValue(
  usage: number,
  target: number,
  { pods, current, tolerance }: Pick<Sample, 'pods' | 'current' | 'tolerance'>,
): Proposal {
  const ratio = usage / target
  if (current === 0) return { usage, replicas: Math.ceil(ratio) }
  if (isWithin(tolerance, ratio)) return { usage, replicas: current }
  if (pods.length === 0) {
    throw new Error('unable to calculate ready pods: no pods returned by selector while calculating replica count')
  }
  const ready = pods.filter(pod => phaseOf(pod) === 'Running' && isReady(pod)).length
  return { usage, replicas: Math.min(Math.ceil(ratio * ready), MAX_INT32) }
}

/** For a value that is not about pods, and a target for each of them. `existing` is how many pods there are. */
export function countByShare(usage: number, target: number, existing: number, tolerance: Tolerance): Proposal {
  const isEnough = isWithin(tolerance, usage / (target * existing))
  return {
    replicas: isEnough ? existing : Math.min(Math.ceil(usage / target), MAX_INT32),
    usage: Math.ceil(usage / existing),
  }
}

const isWithin = ({ down, up }: Tolerance, ratio: number): boolean => 1 - down <= ratio && ratio <= 1 + up

function groupPods(pods: readonly Pod[], metrics: ReadonlyMap<string, number>, isCpu: boolean, now: number) {
  const [unready, missing, ignored] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let ready = 0
  for (const pod of pods) {
    const { name } = pod.metadata
    if (isTerminating(pod) || phaseOf(pod) === 'Failed') ignored.add(name)
    else if (phaseOf(pod) === 'Pending') unready.add(name)
    else if (!metrics.has(name)) missing.add(name)
    else if (isCpu && !showsItsUse(pod, now)) unready.add(name)
    else ready++
  }
  return { ready, unready, missing, ignored }
}

/** While a pod begins, it uses more of the processor than later. */
function showsItsUse(pod: Pod, now: number): boolean {
  const condition = conditionOf(pod.status?.conditions, 'Ready')
  const { startTime } = pod.status ?? {}
  if (!condition || startTime === undefined) return false
  if (condition.status !== 'False') return true
  const started = Date.parse(startTime)
  if (started + CPU_INITIALIZATION_MS > now) return false
  return started + INITIAL_READINESS_MS <= Date.parse(condition.lastTransitionTime ?? '')
}

/** What each pod asks for of a resource, or one of its containers. Throws if one does not say it. */
export function requestsOfPods(pods: readonly Pod[], resource: string, container?: string): Map<string, number> {
  return new Map(pods.map(pod => [pod.metadata.name, requestOfPod(pod, resource, container)]))
}

function requestOfPod(pod: Pod, resource: string, container: string | undefined): number {
  const { name } = pod.metadata
  const ofPod = (pod.spec as { readonly resources?: Container['resources'] }).resources?.requests
  if (container === undefined && ofPod && Object.keys(ofPod).length > 0) {
    const request = ofPod[resource]
    if (request === undefined) throw new Error(`missing pod-level request for ${resource} in Pod ${name}`)
    return milli(request)
  }
  const running = [
    ...pod.spec.containers,
    ...(pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always'),
  ].filter(each => container === undefined || each.name === container)
  if (running.length === 0) throw new Error(`container ${container} not found in Pod ${name}`)
  return sum(
    running.map(each => {
      const request = each.resources?.requests?.[resource]
      if (request === undefined)
        throw new Error(`missing request for ${resource} in container ${each.name} of Pod ${name}`)
      return milli(request)
    }),
  )
}

/** A quantity in thousandths. */
export function milli(text: string): number {
  const quantity = parseQuantity(text)
  return quantity.ok ? Number(scaledQuantity(quantity.value, -3)) : 0
}

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)
