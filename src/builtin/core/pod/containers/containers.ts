// The containers of a pod: names and images, ports, environment, mounts, probes, resources.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../../../meta/errors/field-errors.js'
import { checkDnsLabel, checkPortName } from '../../../../meta/object/names.js'
import { numberAt, objectAt, objectsAt, stringAt } from '../../../../meta/values/access.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkPortNumber, checkText } from '../../../common/field-checks.js'
import { check, each, forbidden, format, oneOf, type Rule, required, run, when } from '../../../common/rules.js'
import { PROTOCOLS } from '../../endpoints.js'
import { checkResources } from './container-resources.js'
import { environmentRules } from './environment.js'
import { checkMountsAndDevices, type PodVolumes } from './mounts.js'
import { checkLifecycle, PROBES, probes } from './probes.js'
import { checkUsedClaims } from './resource-claims.js'
import { checkResizePolicy, noRestartOnResize, restartPolicyRules } from './restart-rules.js'
import { checkContainerSecurity } from './security-context.js'

/** What containers are checked against: the rest of their pod. */
export interface PodContext {
  /** The volumes that can be mounted. */
  readonly volumes: PodVolumes
  /** The names of the pod's claims of devices. */
  readonly claims: ReadonlySet<string>
  readonly restartPolicy: string
  /** Seconds that a pod has to end; hooks may not wait longer. */
  readonly gracePeriod: number
  /** Whether the pod shares the users of its node. */
  readonly hostUsers: boolean
  /** False for the template of a pod, which kube-apiserver checks less strictly. */
  readonly ofPod: boolean
  /** Whether init containers that end before the others start may ask for a restart when they are resized. */
  readonly mayRestartInit: boolean
}

/** Containers and init containers. Names are unique among all of them. */
export function checkContainers(spec: ValueObject, context: PodContext, path: string): FieldError[] {
  const containers = objectsAt(spec, 'containers')
  const at = childPath(path, 'containers')
  const names = new Set<string>()
  const errors: FieldError[] = []
  if (containers.length === 0) errors.push(fieldRequired(at))
  for (const [i, container] of containers.entries()) {
    const own = indexPath(at, i)
    errors.push(
      ...checkContainer(container, context, own),
      ...checkUniqueName(container, names, own, { isEmptyTaken: true }),
      ...checkProbesAndHooks(container, context, own),
      ...run(restartPolicyRules, container, undefined, own),
    )
  }
  errors.push(...checkHostPorts(containers, at))
  for (const [i, container] of objectsAt(spec, 'initContainers').entries()) {
    const own = indexPath(childPath(path, 'initContainers'), i)
    errors.push(
      ...checkContainer(container, context, own),
      ...checkUniqueName(container, names, own),
      ...run(initContainerRules(context), container, undefined, own),
    )
  }
  return errors
}

/** Adds the name to those that are taken. Two containers without a name have the same one; two init containers have not. */
function checkUniqueName(
  container: ValueObject,
  names: Set<string>,
  path: string,
  { isEmptyTaken = false } = {},
): FieldError[] {
  const name = stringAt(container, 'name')
  if (names.has(name)) return [fieldDuplicate(childPath(path, 'name'), name)]
  if (name !== '' || isEmptyTaken) names.add(name)
  return []
}

const checkProbesAndHooks = (container: ValueObject, context: PodContext, path: string): FieldError[] => [
  ...run(probes, container, undefined, path),
  ...checkLifecycle(container, context.gracePeriod, path),
]

/** A sidecar, which runs beside the containers, may have what they have. */
const isSidecar = (container: ValueObject): boolean => stringAt(container, 'restartPolicy') === 'Always'

const initContainerRules = (context: PodContext): readonly Rule[] => [
  ...restartPolicyRules,
  when(isSidecar, [check((container, path) => checkProbesAndHooks(container, context, path))]),
  when(
    container => !isSidecar(container),
    ['lifecycle', ...PROBES].map(name =>
      forbidden(name, 'may not be set for init containers without restartPolicy=Always'),
    ),
  ),
  when(container => !context.mayRestartInit && !isSidecar(container), [each('resizePolicy', [noRestartOnResize])]),
]

// ---- one container

/** Only pods: templates in use have images such as a single space. */
const trimmedImage = check((container, path) => {
  const image = stringAt(container, 'image')
  if (image === image.trim()) return []
  return [fieldInvalid(childPath(path, 'image'), image, 'must not have leading or trailing whitespace')]
})

const rulesBeforeMounts: readonly Rule[] = [
  oneOf('terminationMessagePolicy', ['File', 'FallbackToLogsOnError'], { required: true }),
  check(checkPorts),
  ...environmentRules,
]

const rulesAfterMounts: readonly Rule[] = [
  oneOf('imagePullPolicy', ['Always', 'IfNotPresent', 'Never'], { required: true }),
]

const nameAndImage: readonly Rule[] = [format('name', checkDnsLabel, { required: true }), required('image')]

/** The rules for all kinds of containers, also ephemeral ones. */
export const checkContainer = (container: ValueObject, context: PodContext, path: string): FieldError[] => [
  ...run(context.ofPod ? [...nameAndImage, trimmedImage] : nameAndImage, container, undefined, path),
  ...run(rulesBeforeMounts, container, undefined, path),
  ...checkMountsAndDevices(container, context.volumes, path),
  ...run(rulesAfterMounts, container, undefined, path),
  ...checkResources(objectAt(container, 'resources'), childPath(path, 'resources')),
  ...checkUsedClaims(objectAt(container, 'resources'), context.claims, childPath(path, 'resources')),
  ...checkResizePolicy(container, context.restartPolicy, path),
  ...checkContainerSecurity(
    objectAt(container, 'securityContext'),
    context.hostUsers,
    childPath(path, 'securityContext'),
  ),
]

// ---- ports

const portRules: readonly Rule[] = [
  check((port, path) => {
    const given = numberAt(port, 'containerPort')
    const at = childPath(path, 'containerPort')
    return given === 0 ? [fieldRequired(at)] : checkPortNumber(given, at)
  }),
  when(
    port => numberAt(port, 'hostPort') !== 0,
    [check((port, path) => checkPortNumber(numberAt(port, 'hostPort'), childPath(path, 'hostPort')))],
  ),
  oneOf('protocol', PROTOCOLS, { required: true }),
]

function checkPorts(container: ValueObject, path: string): FieldError[] {
  const names = new Set<string>()
  return objectsAt(container, 'ports').flatMap((port, i) => {
    const at = indexPath(childPath(path, 'ports'), i)
    const name = stringAt(port, 'name')
    const errors = name === '' ? [] : checkText(name, checkPortName, childPath(at, 'name'))
    if (errors.length === 0 && names.has(name)) errors.push(fieldDuplicate(childPath(at, 'name'), name))
    else if (errors.length === 0 && name !== '') names.add(name)
    return errors.concat(run(portRules, port, undefined, at))
  })
}

/** No two containers have one port of the node. */
function checkHostPorts(containers: readonly ValueObject[], path: string): FieldError[] {
  const taken = new Set<string>()
  return containers.flatMap((container, i) =>
    objectsAt(container, 'ports').flatMap((port, j) => {
      const hostPort = numberAt(port, 'hostPort')
      if (hostPort === 0) return []
      const key = `${stringAt(port, 'protocol')}/${stringAt(port, 'hostIP')}/${hostPort}`
      if (taken.has(key)) return [fieldDuplicate(`${indexPath(path, i)}.ports[${j}].hostPort`, key)]
      taken.add(key)
      return []
    }),
  )
}

/**
 * On the network of the node a container listens on the node's port itself. A template may leave that port open: it is
 * filled in when a pod is created from it.
 */
export function checkHostNetworkPorts(spec: ValueObject, { ofPod }: PodContext, path: string): FieldError[] {
  if (spec['hostNetwork'] !== true) return []
  return objectsAt(spec, 'containers').flatMap((container, i) =>
    objectsAt(container, 'ports').flatMap((port, j) => {
      const hostPort = numberAt(port, 'hostPort')
      if (hostPort === numberAt(port, 'containerPort') || (hostPort === 0 && !ofPod)) return []
      const why = 'must match `containerPort` when `hostNetwork` is true'
      return [fieldInvalid(`${path}.containers[${i}].ports[${j}].hostPort`, hostPort, why)]
    }),
  )
}
