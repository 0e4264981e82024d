// The pods of a Job: which have ended and how, and those that are to be made.
import type { Container, Job, Pod, PodTemplate } from '../api/objects.js'
import { isTerminating, phaseOf } from '../common/conditions.js'
import type { PodChange } from '../common/pod-control.js'

export const TRACKING = 'batch.kubernetes.io/job-tracking'
export const INDEX = 'batch.kubernetes.io/job-completion-index'
export const INDEX_FAILURES = 'batch.kubernetes.io/job-index-failure-count'

export const isTracked = (pod: Pod): boolean => pod.metadata.finalizers?.includes(TRACKING) ?? false
export const isIndexed = (job: Job): boolean => job.spec.completionMode === 'Indexed'
export const hasBackoffPerIndex = (job: Job): boolean => job.spec.backoffLimitPerIndex !== undefined

/** -1 if it has none. */
export function indexOf(pod: Pod): number {
  const text = pod.metadata.annotations?.[INDEX]
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : -1
}

/** Where only failed pods are replaced, a pod that is being deleted counts when it has ended. */
const onlyReplacesFailed = ({ spec }: Job): boolean =>
  spec.podFailurePolicy !== undefined || spec.podReplacementPolicy === 'Failed'

export function hasFailed(job: Job, pod: Pod): boolean {
  if (phaseOf(pod) === 'Failed') return true
  return isTerminating(pod) && phaseOf(pod) !== 'Succeeded' && !onlyReplacesFailed(job)
}

export const waitsForTerminating = onlyReplacesFailed

export function finishTime(pod: Pod): number {
  const times = (pod.status?.containerStatuses ?? []).map(({ state }) =>
    Date.parse(state?.terminated?.finishedAt ?? ''),
  )
  const known = times.filter(time => !Number.isNaN(time))
  return known.length > 0
    ? Math.max(...known)
    : Date.parse(pod.metadata.deletionTimestamp ?? pod.metadata.creationTimestamp)
}

const FIRST_BACKOFF_MS = 10_000
const MAX_BACKOFF_MS = 600_000

/** When the next pod may be made: the more failures in a row, the later. */
export function backoffEnd(job: Job, pods: readonly Pod[]): number {
  const ended = pods
    .filter(pod => phaseOf(pod) === 'Succeeded' || hasFailed(job, pod))
    .toSorted((a, b) => finishTime(a) - finishTime(b))
  const lastSuccess = ended.findLastIndex(pod => phaseOf(pod) === 'Succeeded')
  const failures = ended.length - 1 - lastSuccess
  if (failures <= 0) return 0
  return finishTime(ended.at(-1)!) + Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1))
}

/** The failures of an index so far, by its pods. */
export const failuresOf = (pod: Pod): number => Number(pod.metadata.annotations?.[INDEX_FAILURES] ?? 0) || 0

/** What a new pod has beside its template. */
export function podFor(job: Job, template: PodTemplate, index: number | undefined, failures: number): PodChange {
  if (index === undefined) return { finalizers: [TRACKING] }
  const { name } = job.metadata
  return {
    finalizers: [TRACKING],
    generateName: `${name}-${index}-`,
    labels: { [INDEX]: String(index) },
    annotations: { [INDEX]: String(index), ...(hasBackoffPerIndex(job) && { [INDEX_FAILURES]: String(failures) }) },
    spec: {
      hostname: `${name}-${index}`,
      containers: template.spec.containers.map(withIndexVariable),
      ...(template.spec.initContainers && { initContainers: template.spec.initContainers.map(withIndexVariable) }),
    },
  }
}

const VARIABLE = 'JOB_COMPLETION_INDEX'

function withIndexVariable(container: Container): Container {
  const { env = [] } = container as { readonly env?: readonly { readonly name: string }[] }
  if (env.some(({ name }) => name === VARIABLE)) return container
  const valueFrom = { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${INDEX}']` } }
  return Object.assign({}, container, { env: [...env, { name: VARIABLE, valueFrom }] })
}
