// The checks of the restricted level: current practice of hardening pods.
import { has, numberOrNone, objectAt, objectsAt, stringAt, stringsAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { addedBeyond, procMount, seccompProfile } from './baseline-checks.js'
import {
  type Check,
  containersOf,
  hasOwnUsers,
  isWindows,
  named,
  type PodLike,
  plural,
  profileOf,
  quoted,
  securityOf,
  settersOf,
  sorted,
  type Violation,
} from './check.js'

type CheckPod = (pod: PodLike) => Violation | undefined

const unlessWindows =
  (check: CheckPod): CheckPod =>
  pod =>
    isWindows(pod) ? undefined : check(pod)

const unlessOwnUsers =
  (check: CheckPod): CheckPod =>
  pod =>
    hasOwnUsers(pod) ? undefined : check(pod)

function allowPrivilegeEscalation(pod: PodLike): Violation | undefined {
  const bad = containersOf(pod).filter(container => securityOf(container)['allowPrivilegeEscalation'] !== false)
  if (bad.length === 0) return undefined
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${named(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

const ADDABLE = new Set(['NET_BIND_SERVICE'])

function capabilities(pod: PodLike): Violation | undefined {
  const keeping = containersOf(pod).filter(
    container => !stringsAt(objectAt(securityOf(container), 'capabilities'), 'drop').includes('ALL'),
  )
  const added = addedBeyond(pod, ADDABLE)
  const details = [
    ...(keeping.length > 0 ? [`${named(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(added === undefined ? [] : [added]),
  ]
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

const VOLUMES: readonly string[] = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
]

function volumes({ spec }: PodLike): Violation | undefined {
  const bad = objectsAt(spec, 'volumes').filter(volume => !VOLUMES.some(type => has(volume, type)))
  if (bad.length === 0) return undefined
  const types = sorted(bad.map(volume => Object.keys(volume).find(field => field !== 'name') ?? 'unknown'))
  const who = `${plural('volume', 'volumes', bad.length)} ${quoted(bad.map(volume => stringAt(volume, 'name')))}`
  const what = plural('restricted volume type', 'restricted volume types', types.length)
  return {
    reason: 'restricted volume types',
    detail: `${who} ${plural('uses', 'use', bad.length)} ${what} ${quoted(types)}`,
  }
}

function runAsNonRoot(pod: PodLike): Violation | undefined {
  const reason = 'runAsNonRoot != true'
  const setters = settersOf(pod, security => security['runAsNonRoot'] === false)
  if (setters) return { reason, detail: `${setters.who.join(' and ')} must not set securityContext.runAsNonRoot=false` }
  const silent = silentContainers(pod, security => security['runAsNonRoot'] === true)
  if (silent.length === 0) return undefined
  return { reason, detail: `pod or ${named(silent)} must set securityContext.runAsNonRoot=true` }
}

/** The containers that do not set the field, if the pod does not set it for them. */
const silentContainers = (pod: PodLike, says: (security: ValueObject) => boolean): ValueObject[] =>
  says(securityOf(pod.spec)) ? [] : containersOf(pod).filter(container => !says(securityOf(container)))

function runAsUser(pod: PodLike): Violation | undefined {
  const setters = settersOf(pod, security => numberOrNone(security, 'runAsUser') === 0)
  return setters && { reason: 'runAsUser=0', detail: `${setters.who.join(' and ')} must not set runAsUser=0` }
}

function seccomp(pod: PodLike): Violation | undefined {
  const violation = seccompProfile(pod)
  if (violation) return violation
  const silent = silentContainers(pod, security => profileOf(security, 'seccompProfile') !== undefined)
  if (silent.length === 0) return undefined
  return {
    reason: 'seccompProfile',
    detail: `pod or ${named(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  }
}

export const restrictedChecks: readonly Check[] = [
  {
    id: 'allowPrivilegeEscalation',
    since: [
      [8, allowPrivilegeEscalation],
      [25, unlessWindows(allowPrivilegeEscalation)],
    ],
  },
  {
    id: 'capabilities_restricted',
    since: [
      [22, capabilities],
      [25, unlessWindows(capabilities)],
    ],
    covers: ['capabilities_baseline'],
  },
  // A user namespace makes no difference to this check.
  { id: 'procMount_restricted', since: [[35, procMount]], covers: ['procMount'] },
  { id: 'restrictedVolumes', since: [[0, volumes]], covers: ['hostPathVolumes'] },
  {
    id: 'runAsNonRoot',
    since: [
      [0, runAsNonRoot],
      [35, unlessOwnUsers(runAsNonRoot)],
    ],
  },
  {
    id: 'runAsUser',
    since: [
      [23, runAsUser],
      [35, unlessOwnUsers(runAsUser)],
    ],
  },
  {
    id: 'seccompProfile_restricted',
    since: [
      [19, seccomp],
      [25, unlessWindows(seccomp)],
    ],
    covers: ['seccompProfile_baseline'],
  },
]
