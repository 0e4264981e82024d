// The spec of a pod, by itself or in a template, as rules in the order of kube-apiserver.
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  indexPath,
} from '../../../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain, checkDnsSubdomainWithUnderscore } from '../../../../meta/object/names.js'
import { checkAnnotations } from '../../../../meta/object/object-meta.js'
import { checkLabels } from '../../../../meta/selectors/label-selectors.js'
import {
  has,
  mapAt,
  numberAt,
  numberOrNone,
  objectAt,
  objectsAt,
  stringAt,
  stringsAt,
} from '../../../../meta/values/access.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkText } from '../../../common/field-checks.js'
import { checkIp } from '../../../common/ip-rules.js'
import { check, each, field, format, ifSet, oneOf, optional, type Rule, run, when } from '../../../common/rules.js'
import { checkPodResources, checkResources } from '../containers/container-resources.js'
import { checkContainers, checkHostNetworkPorts, type PodContext } from '../containers/containers.js'
import { variableFiles } from '../containers/environment.js'
import { checkEphemeralContainers } from '../containers/ephemeral-containers.js'
import { hostProcesses, operatingSystem } from '../containers/operating-system.js'
import { checkPodClaims, claimNames } from '../containers/resource-claims.js'
import { restartsInitContainers } from '../containers/restart-rules.js'
import { hostSysctls, podSecurityRules } from '../containers/security-context.js'
import { checkAnnotatedFields, checkPodAnnotations } from './pod-annotations.js'
import { affinity, checkTolerations, readinessGates, schedulingGates, topologySpread } from './scheduling.js'
import { checkVolumes } from './volumes.js'

/** The template in the spec of a controller. */
export function checkPodTemplate(template: ValueObject, path: string, old?: ValueObject): FieldError[] {
  const spec = objectAt(template, 'spec')
  const errors = [
    ...checkTemplateMetadata(template, path, old),
    ...checkPodSpec(spec, childPath(path, 'spec'), { ofPod: false, oldSpec: old && objectAt(old, 'spec') }),
    ...checkAnnotatedFields(template, childPath(path, 'spec')),
  ]
  if (objectsAt(spec, 'ephemeralContainers').length > 0) {
    const why = 'ephemeral containers not allowed in pod template'
    errors.push(fieldForbidden(`${path}.spec.ephemeralContainers`, why))
  }
  return errors
}

export function checkTemplateMetadata(template: ValueObject, path: string, old?: ValueObject): FieldError[] {
  const meta = objectAt(template, 'metadata')
  return [
    ...checkLabels(mapAt(meta, 'labels'), childPath(path, 'labels')),
    ...checkAnnotations(mapAt(meta, 'annotations'), childPath(path, 'annotations')),
    ...checkPodAnnotations(template, old, childPath(path, 'annotations')),
  ]
}

export interface PodSpecOptions {
  /** False for a template, which kube-apiserver checks less strictly; it has no `podName`. */
  readonly ofPod: boolean
  readonly podName?: string
  /** What the old spec has already is accepted for a few fields. */
  readonly oldSpec?: ValueObject | undefined
}

export function checkPodSpec(
  spec: ValueObject,
  path: string,
  { ofPod, podName = '', oldSpec }: PodSpecOptions,
): FieldError[] {
  const volumes = checkVolumes(spec, childPath(path, 'volumes'), ofPod, podName)
  const context: PodContext = {
    volumes: volumes.byName,
    claims: claimNames(spec),
    restartPolicy: stringAt(spec, 'restartPolicy'),
    gracePeriod: numberAt(spec, 'terminationGracePeriodSeconds'),
    hostUsers: spec['hostUsers'] !== false,
    ofPod,
    mayRestartInit: oldSpec !== undefined && restartsInitContainers(oldSpec),
  }
  return [
    ...volumes.errors,
    ...checkPodClaims(spec, path),
    ...checkContainers(spec, context, path),
    ...checkEphemeralContainers(spec, context, path),
    ...checkPodResources(spec, context.claims, childPath(path, 'resources')),
    ...checkHostNetworkPorts(spec, context, path),
    ...run(RULES, spec, undefined, path),
  ]
}

// ---- parts of the spec

const shareProcessNamespace = check((spec, path) =>
  spec['shareProcessNamespace'] === true && spec['hostPID'] === true
    ? [
        fieldInvalid(
          `${path}.securityContext.shareProcessNamespace`,
          true,
          'ShareProcessNamespace and HostPID cannot both be enabled',
        ),
      ]
    : [],
)

const MAX_NAMESERVERS = 3
const MAX_SEARCH_PATHS = 32
const MAX_SEARCH_LENGTH = 2048

const dnsConfigRules: readonly Rule[] = [
  check((config, path) => {
    const servers = stringsAt(config, 'nameservers')
    const at = childPath(path, 'nameservers')
    const why = `must not have more than ${MAX_NAMESERVERS} nameservers`
    return [
      ...(servers.length > MAX_NAMESERVERS ? [fieldInvalid(at, [...servers], why)] : []),
      ...servers.flatMap((server, i) => checkIp(server, indexPath(at, i))),
    ]
  }),
  check((config, path) => {
    const searches = stringsAt(config, 'searches')
    const at = childPath(path, 'searches')
    const invalid = (why: string): FieldError => fieldInvalid(at, [...searches], why)
    const isLong = Buffer.byteLength(searches.join(' ')) > MAX_SEARCH_LENGTH
    return [
      ...(searches.length > MAX_SEARCH_PATHS
        ? [invalid(`must not have more than ${MAX_SEARCH_PATHS} search paths`)]
        : []),
      ...(isLong
        ? [invalid(`must not have more than ${MAX_SEARCH_LENGTH} characters (including spaces) in the search list`)]
        : []),
      ...searches.flatMap((search, i) =>
        // A dot alone is the root, and a name may end with one.
        search === '.' ? [] : checkText(search.replace(/\.$/, ''), checkDnsSubdomainWithUnderscore, indexPath(at, i)),
      ),
    ]
  }),
  each('options', [
    check((option, path) => (stringAt(option, 'name') === '' ? [fieldRequired(path, 'must not be empty')] : [])),
  ]),
]

const noDnsPolicy = check((spec, path) => {
  if (stringAt(spec, 'dnsPolicy') !== 'None') return []
  const at = childPath(path, 'dnsConfig')
  if (!has(spec, 'dnsConfig')) return [fieldRequired(at, 'must provide `dnsConfig` when `dnsPolicy` is None')]
  if (stringsAt(objectAt(spec, 'dnsConfig'), 'nameservers').length > 0) return []
  const why = 'must provide at least one DNS nameserver when `dnsPolicy` is None'
  return [fieldRequired(childPath(at, 'nameservers'), why)]
})

/** A pod with users of its own cannot share the other namespaces of the host. */
const ownUsers = when(
  spec => spec['hostUsers'] === false,
  [
    check((spec, path) => {
      const forbidden = (name: string): FieldError => fieldForbidden(childPath(path, name), 'when `hostUsers` is false')
      return [
        ...(spec['hostNetwork'] === true ? [forbidden('hostNetwork')] : []),
        // kube-apiserver's messages spell these two with capitals.
        ...(spec['hostPID'] === true ? [forbidden('HostPID')] : []),
        ...(spec['hostIPC'] === true ? [forbidden('HostIPC')] : []),
        ...objectsAt(spec, 'containers').flatMap((container, i) =>
          objectsAt(container, 'volumeDevices').length > 0 ? [forbidden(`containers[${i}].volumeDevices`)] : [],
        ),
      ]
    }),
  ],
)

const MAX_HOSTNAME_OVERRIDE = 64

const hostnameOverride = ifSet('hostnameOverride', [
  check((spec, path) => {
    const at = childPath(path, 'hostnameOverride')
    const name = stringAt(spec, 'hostnameOverride')
    const errors: FieldError[] = []
    if (spec['setHostnameAsFQDN'] === true) {
      errors.push(fieldForbidden(at, 'may not be specified when setHostnameAsFQDN is true'))
    }
    if (spec['hostNetwork'] === true) {
      errors.push(fieldForbidden(at, 'may not be specified when hostNetwork is true'))
    }
    if (Buffer.byteLength(name) > MAX_HOSTNAME_OVERRIDE) errors.push(fieldTooLong(at, MAX_HOSTNAME_OVERRIDE))
    return [...errors, ...checkText(name, checkDnsSubdomain, at)]
  }),
])

const activeDeadline = check((spec, path) => {
  const seconds = numberOrNone(spec, 'activeDeadlineSeconds')
  if (seconds === undefined || (seconds >= 1 && seconds < 2 ** 31)) return []
  return [
    fieldInvalid(childPath(path, 'activeDeadlineSeconds'), seconds, 'must be between 1 and 2147483647, inclusive'),
  ]
})

const hostAliasRules: readonly Rule[] = [
  check((alias, path) => checkIp(stringAt(alias, 'ip'), childPath(path, 'ip'))),
  check((alias, path) =>
    stringsAt(alias, 'hostnames').flatMap((name, i) =>
      checkText(name, checkDnsSubdomain, indexPath(childPath(path, 'hostnames'), i)),
    ),
  ),
]

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never']
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']

/** The rules after volumes and containers. */
const RULES: readonly Rule[] = [
  oneOf('restartPolicy', RESTART_POLICIES, { required: true }),
  oneOf('dnsPolicy', DNS_POLICIES, { required: true }),
  check((spec, path) => checkLabels(mapAt(spec, 'nodeSelector'), childPath(path, 'nodeSelector'))),
  field('securityContext', podSecurityRules),
  hostSysctls,
  shareProcessNamespace,
  affinity,
  noDnsPolicy,
  optional('dnsConfig', dnsConfigRules),
  readinessGates,
  schedulingGates,
  topologySpread,
  hostProcesses,
  ownUsers,
  hostnameOverride,
  format('serviceAccountName', checkDnsSubdomain),
  format('nodeName', checkDnsSubdomain),
  activeDeadline,
  format('hostname', checkDnsLabel),
  format('subdomain', checkDnsLabel),
  check((spec, path) => checkTolerations(spec, childPath(path, 'tolerations'))),
  each('hostAliases', hostAliasRules),
  format('priorityClassName', checkDnsSubdomain),
  ifSet('runtimeClassName', [
    check((spec, path) =>
      checkText(stringAt(spec, 'runtimeClassName'), checkDnsSubdomain, childPath(path, 'runtimeClassName')),
    ),
  ]),
  ifSet('preemptionPolicy', [oneOf('preemptionPolicy', ['PreemptLowerPriority', 'Never'], { required: true })]),
  optional('overhead', [check((overhead, path) => checkResources({ limits: overhead }, path))]),
  operatingSystem,
  variableFiles,
]
