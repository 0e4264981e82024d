// What the failure of a pod means to its Job.
import type { Job, Pod, PodFailureRule } from '../api/objects.js'
import { conditionOf } from '../common/conditions.js'

export interface PolicyMatch {
  readonly action: string
  /** Why the Job fails, for FailJob. */
  readonly message: string
}

/** The first rule that matches a failed pod. */
export function matchFailurePolicy(job: Job, pod: Pod): PolicyMatch | undefined {
  const { namespace = '', name } = pod.metadata
  for (const [i, rule] of (job.spec.podFailurePolicy?.rules ?? []).entries()) {
    const found = matchRule(rule, pod)
    if (found !== undefined) {
      const what = rule.onExitCodes
        ? `Container ${found} for pod ${namespace}/${name} failed with`
        : `Pod ${namespace}/${name} has`
      return {
        action: rule.action,
        message: `${what} ${detail(rule, pod, found)} matching ${rule.action} rule at index ${i}`,
      }
    }
  }
  return undefined
}

/** The name of the container, or the type of the condition. */
function matchRule({ onExitCodes, onPodConditions }: PodFailureRule, pod: Pod): string | undefined {
  if (onExitCodes) {
    const { containerName, operator, values } = onExitCodes
    const all = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
    return all.find(({ name, state }) => {
      const code = state?.terminated?.exitCode
      if (code === undefined || code === 0 || (containerName !== undefined && containerName !== name)) return false
      return operator === 'In' ? values.includes(code) : !values.includes(code)
    })?.name
  }
  return onPodConditions?.find(
    ({ type, status = 'True' }) => conditionOf(pod.status?.conditions, type)?.status === status,
  )?.type
}

function detail({ onExitCodes }: PodFailureRule, pod: Pod, found: string): string {
  if (!onExitCodes) return `condition ${found}`
  const all = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
  return `exit code ${all.find(({ name }) => name === found)?.state?.terminated?.exitCode}`
}
