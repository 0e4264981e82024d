// The statuses of a pod as a kubelet writes them: waiting, running, ended; each made of the one before.
import { createHash } from 'node:crypto'
import { printTime } from '../../meta/values/time.js'
import type { Condition, Container, ContainerState, ContainerStatus, Pod, PodStatus } from '../api/objects.js'
import { conditionOf, isTrue, without } from '../common/conditions.js'
import type { Failure } from './plan.js'

export interface Place {
  readonly hostIP: string
  readonly podIP: string | undefined
}

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always'

// ---- containers

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

function containerStatus(
  pod: Pod,
  container: Container,
  state: ContainerState,
  more: Partial<ContainerStatus> = {},
): ContainerStatus {
  const restartCount = more.restartCount ?? 0
  const image = container.image ?? ''
  const isStarted = state.running !== undefined || state.terminated !== undefined
  const containerID = `containerd://${digest(`${pod.metadata.uid}/${container.name}/${restartCount}`)}`
  return {
    name: container.name,
    state: state.terminated ? { terminated: { ...state.terminated, containerID } } : state,
    lastState: {},
    ready: false,
    restartCount,
    image,
    imageID: isStarted ? `sha256:${digest(image)}` : '',
    ...(isStarted && { containerID }),
    started: state.running !== undefined,
    ...more,
  }
}

/** Waiting for the first start. */
export function waitingStatus(pod: Pod, place: Place, now: number, reason: string, message?: string): PodStatus {
  const { containers, initContainers = [] } = pod.spec
  const hasInit = initContainers.some(each => !isSidecar(each))
  const waiting = (why: string): ContainerState => ({
    waiting: { reason: why, ...(message !== undefined && why === reason && { message }) },
  })
  return withConditions(
    pod,
    {
      ...placed(pod.status ?? {}, { ...place, podIP: undefined }, now),
      phase: 'Pending',
      ...(initContainers.length > 0 && {
        initContainerStatuses: initContainers.map((each, i) =>
          containerStatus(pod, each, waiting(i === 0 && hasInit ? reason : 'PodInitializing')),
        ),
      }),
      containerStatuses: containers.map(each =>
        containerStatus(pod, each, waiting(hasInit ? 'PodInitializing' : reason)),
      ),
    },
    now,
    { isInitialized: !hasInit, hasSandbox: false },
  )
}

/** All containers run; the init containers have ended. */
export function runningStatus(pod: Pod, place: Place, now: number, isReady: boolean): PodStatus {
  const { containers, initContainers = [] } = pod.spec
  const startedAt = printTime(now)
  const status: PodStatus = {
    ...placed(pod.status ?? {}, place, now),
    phase: 'Running',
    ...(initContainers.length > 0 && {
      initContainerStatuses: initContainers.map(each =>
        isSidecar(each)
          ? containerStatus(pod, each, { running: { startedAt } }, { ready: true })
          : containerStatus(
              pod,
              each,
              { terminated: { exitCode: 0, reason: 'Completed', startedAt, finishedAt: startedAt } },
              { ready: true },
            ),
      ),
    }),
    containerStatuses: containers.map(each =>
      containerStatus(pod, each, { running: { startedAt } }, { ready: isReady }),
    ),
  }
  return withConditions(pod, status, now)
}

/** Ephemeral containers start as soon as they are added to a pod that runs; no probe asks whether they are ready. */
export function withEphemeralContainers(pod: Pod, status: PodStatus, now: number): PodStatus {
  const { ephemeralContainers = [] } = pod.spec
  if (ephemeralContainers.length === 0) return status
  const known = new Map((status.ephemeralContainerStatuses ?? []).map(each => [each.name, each]))
  const start = (container: Container): ContainerStatus => {
    const { started: _, ...made } = containerStatus(pod, container, { running: { startedAt: printTime(now) } })
    return made
  }
  const statuses = ephemeralContainers.map(container => known.get(container.name) ?? start(container))
  return { ...status, ephemeralContainerStatuses: statuses }
}

/** Containers that run become ready, or not. */
export const readyStatus = (pod: Pod, now: number, isReady: boolean): PodStatus =>
  withConditions(
    pod,
    {
      ...pod.status,
      containerStatuses: (pod.status?.containerStatuses ?? []).map(each => withReady(each, isReady)),
    },
    now,
  )

const withReady = (each: ContainerStatus, isReady: boolean): ContainerStatus =>
  each.state?.running ? { ...each, ready: isReady } : each

/** The containers that run end, all or one. Whether the pod ends with them is up to its restartPolicy. */
export function endedStatus(pod: Pod, now: number, failure: Failure, only?: string): PodStatus {
  const finishedAt = printTime(now)
  const end = (each: ContainerStatus): ContainerStatus =>
    each.state?.running && (only === undefined || each.name === only) ? terminated(each, failure, finishedAt) : each
  /** Sidecars and ephemeral containers do not decide whether a pod is over. */
  const endWithPod = (each: ContainerStatus): ContainerStatus =>
    each.state?.running ? terminated(each, { exitCode: 0, reason: 'Completed' }, finishedAt) : each
  const { containerStatuses: before = [], initContainerStatuses, ephemeralContainerStatuses } = pod.status ?? {}
  const containerStatuses = before.map(end)
  const phase = phaseAfter(pod.spec.restartPolicy ?? 'Always', containerStatuses)
  const isOver = phase !== 'Running'
  return withConditions(
    pod,
    {
      ...pod.status,
      phase,
      containerStatuses,
      ...(isOver && initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(endWithPod) }),
      ...(isOver &&
        ephemeralContainerStatuses && { ephemeralContainerStatuses: ephemeralContainerStatuses.map(endWithPod) }),
    },
    now,
    { hasSandbox: !isOver },
  )
}

function terminated(
  status: ContainerStatus,
  { exitCode, reason, message }: Failure,
  finishedAt: string,
): ContainerStatus {
  const { started, state, containerID } = status
  return {
    ...status,
    ready: false,
    ...(started !== undefined && { started: false }),
    state: {
      terminated: {
        exitCode,
        reason,
        ...(message !== undefined && { message }),
        startedAt: state?.running?.startedAt ?? finishedAt,
        finishedAt,
        ...(containerID !== undefined && { containerID }),
      },
    },
  }
}

function phaseAfter(restartPolicy: string, statuses: readonly ContainerStatus[]): string {
  const ended = statuses.map(({ state }) => state?.terminated)
  if (restartPolicy === 'Always' || ended.includes(undefined)) return 'Running'
  const hasFailed = ended.some(each => each!.exitCode !== 0)
  if (!hasFailed) return 'Succeeded'
  return restartPolicy === 'Never' ? 'Failed' : 'Running'
}

/** The pod as a whole has failed: it was evicted by its node, or has taken too long. */
export function failedStatus(pod: Pod, now: number, reason: string, message: string): PodStatus {
  const ended = endedStatus(pod, now, { exitCode: 137, reason: 'Error' })
  return withConditions(pod, { ...ended, phase: 'Failed', reason, message }, now, { hasSandbox: false })
}

// ---- restarts

const MAX_BACKOFF_MS = 300_000

/** The first restart comes at once, the next ones after 10 s, 20 s, 40 s … up to five minutes. */
export const backoffMs = (restartCount: number): number =>
  restartCount === 0 ? 0 : Math.min(MAX_BACKOFF_MS, 10_000 * 2 ** (restartCount - 1))

/** When a container that has ended is started again; undefined if it has not, or stays. */
export function restartAt(pod: Pod, { state, lastState, restartCount }: ContainerStatus): number | undefined {
  const ended = state?.terminated ?? (state?.waiting?.reason === CRASH_LOOP ? lastState?.terminated : undefined)
  if (!ended) return undefined
  const policy = pod.spec.restartPolicy ?? 'Always'
  if (policy === 'Never' || (policy === 'OnFailure' && ended.exitCode === 0)) return undefined
  return Date.parse(ended.finishedAt ?? '') + backoffMs(restartCount)
}

const CRASH_LOOP = 'CrashLoopBackOff'

/** Containers whose time has come run again; the others wait for it. */
export function restartedStatus(pod: Pod, now: number, isReady: boolean): PodStatus {
  const { name, namespace = '', uid } = pod.metadata
  const restart = (each: ContainerStatus): ContainerStatus => {
    const at = restartAt(pod, each)
    if (at === undefined) return each
    const ended = each.state?.terminated ? { terminated: each.state.terminated } : (each.lastState ?? {})
    if (at > now) {
      const seconds = backoffMs(each.restartCount) / 1000
      const text = seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
      const message = `back-off ${text} restarting failed container=${each.name} pod=${name}_${namespace}(${uid})`
      return {
        ...each,
        ready: false,
        started: false,
        lastState: ended,
        state: { waiting: { reason: CRASH_LOOP, message } },
      }
    }
    const container = pod.spec.containers.find(every => every.name === each.name)!
    return containerStatus(
      pod,
      container,
      { running: { startedAt: printTime(now) } },
      { ready: isReady, restartCount: each.restartCount + 1, lastState: ended },
    )
  }
  return withConditions(
    pod,
    { ...pod.status, containerStatuses: (pod.status?.containerStatuses ?? []).map(restart) },
    now,
  )
}

// ---- conditions

const placed = (status: PodStatus, { hostIP, podIP }: Place, now: number): PodStatus => ({
  ...status,
  hostIP,
  hostIPs: [{ ip: hostIP }],
  ...(podIP !== undefined && { podIP, podIPs: [{ ip: podIP }] }),
  startTime: status.startTime ?? printTime(now),
})

interface Stage {
  readonly isInitialized?: boolean
  readonly hasSandbox?: boolean
}

/** The status with the conditions that follow from its containers. */
function withConditions(
  pod: Pod,
  status: PodStatus,
  now: number,
  { isInitialized = true, hasSandbox = true }: Stage = {},
): PodStatus {
  const { phase = 'Pending', containerStatuses = [] } = status
  const isOver = phase === 'Succeeded' || phase === 'Failed'
  const unready = containerStatuses.filter(({ ready }) => !ready).map(({ name }) => name)
  const unreadyList = `containers with unready status: [${unready.join(' ')}]`
  const notReady: Partial<Condition> =
    phase === 'Succeeded'
      ? { status: 'False', reason: 'PodCompleted' }
      : phase === 'Failed'
        ? { status: 'False', reason: 'PodFailed' }
        : { status: 'False', reason: 'ContainersNotReady', message: unreadyList }
  const containersReady: Partial<Condition> = unready.length === 0 && !isOver ? { status: 'True' } : notReady
  const gates = gateProblems(pod, status)
  const ready: Partial<Condition> =
    containersReady.status !== 'True'
      ? containersReady
      : gates.length === 0
        ? { status: 'True' }
        : { status: 'False', reason: 'ReadinessGatesNotReady', message: gates.join(', ') }
  const initContainers = (pod.spec.initContainers ?? []).filter(each => !isSidecar(each)).map(({ name }) => name)
  const initialized: Partial<Condition> = isInitialized
    ? { status: 'True', ...(phase === 'Succeeded' && { reason: 'PodCompleted' }) }
    : {
        status: 'False',
        reason: 'ContainersNotInitialized',
        message: `containers with incomplete status: [${initContainers.join(' ')}]`,
      }
  const wanted: Record<string, Partial<Condition>> = {
    PodReadyToStartContainers: { status: hasSandbox ? 'True' : 'False' },
    Initialized: initialized,
    Ready: ready,
    ContainersReady: containersReady,
    PodScheduled: { status: 'True' },
  }
  const before = pod.status?.conditions
  const made = Object.entries(wanted).map(([type, condition]) => conditionFrom(pod, before, type, condition, now))
  const others = (status.conditions ?? []).filter(({ type }) => wanted[type] === undefined)
  const { generation } = pod.metadata
  return {
    ...status,
    ...(generation !== undefined && { observedGeneration: Number(generation) }),
    conditions: [...made, ...others],
  }
}

function conditionFrom(
  { metadata: { generation } }: Pod,
  before: readonly Condition[] | undefined,
  type: string,
  condition: Partial<Condition>,
  now: number,
): Condition {
  const old = conditionOf(before, type)
  const lastTransitionTime =
    old?.status === condition.status && old?.lastTransitionTime ? old.lastTransitionTime : printTime(now)
  return {
    type,
    status: 'False',
    ...condition,
    lastProbeTime: null,
    lastTransitionTime,
    ...(generation !== undefined && { observedGeneration: Number(generation) }),
  }
}

function gateProblems(pod: Pod, { conditions }: PodStatus): string[] {
  return (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    if (isTrue(conditions, conditionType)) return []
    const found = conditionOf(conditions, conditionType)
    return found
      ? [`the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`]
      : [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
  })
}

/** With a condition that says why the pod is disrupted. */
export const disrupted = (pod: Pod, status: PodStatus, reason: string, message: string, now: number): PodStatus => ({
  ...status,
  conditions: [
    ...without(status.conditions, 'DisruptionTarget'),
    conditionFrom(pod, status.conditions, 'DisruptionTarget', { status: 'True', reason, message }, now),
  ],
})
