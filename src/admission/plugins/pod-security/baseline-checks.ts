// The checks of the baseline level: settings by which a container could reach the node.

import { quote } from '../../../meta/go/go-text.js'
import { has, numberAt, objectAt, objectsAt, stringAt, stringsAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import {
  type Check,
  containersOf,
  hasOwnUsers,
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

const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/'
const PROFILES = new Set(['RuntimeDefault', 'Localhost'])

export const isProfile = (type: string): boolean => PROFILES.has(type)

function appArmorProfile(pod: PodLike): Violation | undefined {
  const isBad = (security: ValueObject): boolean => {
    const type = profileOf(security, 'appArmorProfile')
    return type !== undefined && !isProfile(type)
  }
  const setters = settersOf(pod, isBad)
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(APP_ARMOR) && !/^($|localhost\/|runtime\/default$)/.test(value))
    .map(([key, value]) => `${key}=${quote(value)}`)
  const types = sorted((setters?.contexts ?? []).map(security => profileOf(security, 'appArmorProfile')!))
  const values = [...types, ...annotations.toSorted()]
  if (values.length === 0) return undefined
  const by = annotations.length === 0 ? [] : [plural('annotation', 'annotations', annotations.length)]
  const who = [...(setters?.who ?? []), ...by].join(' and ')
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values.length),
    detail: `${who} must not set AppArmor profile type to ${quoted(values)}`,
  }
}

const ADDABLE = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

/** The containers that add other capabilities than these: `container "a" must not include "X" in …`. */
export function addedBeyond(pod: PodLike, addable: ReadonlySet<string>): string | undefined {
  const added = (container: ValueObject): string[] =>
    stringsAt(objectAt(securityOf(container), 'capabilities'), 'add').filter(name => !addable.has(name))
  const bad = containersOf(pod).filter(container => added(container).length > 0)
  if (bad.length === 0) return undefined
  return `${named(bad)} must not include ${quoted(sorted(bad.flatMap(added)))} in securityContext.capabilities.add`
}

function capabilities(pod: PodLike): Violation | undefined {
  const detail = addedBeyond(pod, ADDABLE)
  return detail === undefined ? undefined : { reason: 'non-default capabilities', detail }
}

function hostNamespaces({ spec }: PodLike): Violation | undefined {
  const shared = ['hostNetwork', 'hostPID', 'hostIPC'].filter(field => spec[field] === true)
  if (shared.length === 0) return undefined
  return { reason: 'host namespaces', detail: shared.map(field => `${field}=true`).join(', ') }
}

function hostPathVolumes({ spec }: PodLike): Violation | undefined {
  const names = objectsAt(spec, 'volumes').flatMap(volume =>
    has(volume, 'hostPath') ? [stringAt(volume, 'name')] : [],
  )
  if (names.length === 0) return undefined
  return { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', names.length)} ${quoted(names)}` }
}

function hostPorts(pod: PodLike): Violation | undefined {
  const portsOf = (container: ValueObject): string[] =>
    objectsAt(container, 'ports')
      .map(port => numberAt(port, 'hostPort'))
      .filter(port => port !== 0)
      .map(String)
  const bad = containersOf(pod).filter(container => portsOf(container).length > 0)
  if (bad.length === 0) return undefined
  const ports = sorted(bad.flatMap(portsOf))
  const use = plural('uses', 'use', bad.length)
  return {
    reason: 'hostPort',
    detail: `${named(bad)} ${use} ${plural('hostPort', 'hostPorts', ports.length)} ${ports.join(', ')}`,
  }
}

/** Probes and hooks that make the kubelet call another host. */
function hostProbes(pod: PodLike): Violation | undefined {
  const bad = new Map<string, string[]>()
  for (const container of containersOf(pod)) {
    const lifecycle = objectAt(container, 'lifecycle')
    const handlers = [
      ...['livenessProbe', 'readinessProbe', 'startupProbe'].map(field => objectAt(container, field)),
      ...['postStart', 'preStop'].map(field => objectAt(lifecycle, field)),
    ]
    const hosts = handlers
      .flatMap(handler => ['httpGet', 'tcpSocket'].map(field => stringAt(objectAt(handler, field), 'host')))
      .filter(host => host !== '')
    if (hosts.length > 0) bad.set(stringAt(container, 'name'), hosts)
  }
  if (bad.size === 0) return undefined
  const hosts = sorted([...bad.values()].flat())
  const who = `${plural('container', 'containers', bad.size)} ${quoted(sorted(bad.keys()))}`
  const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts.length)
  return {
    reason: 'probe or lifecycle host',
    detail: `${who} ${plural('uses', 'use', bad.size)} ${what} ${quoted(hosts)}`,
  }
}

function privileged(pod: PodLike): Violation | undefined {
  const bad = containersOf(pod).filter(container => securityOf(container)['privileged'] === true)
  if (bad.length === 0) return undefined
  return { reason: 'privileged', detail: `${named(bad)} must not set securityContext.privileged=true` }
}

export function procMount(pod: PodLike): Violation | undefined {
  const mountOf = (container: ValueObject): string => stringAt(securityOf(container), 'procMount')
  const bad = containersOf(pod).filter(container => !['', 'Default'].includes(mountOf(container)))
  if (bad.length === 0) return undefined
  return {
    reason: 'procMount',
    detail: `${named(bad)} must not set securityContext.procMount to ${quoted(sorted(bad.map(mountOf)))}`,
  }
}

const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t']

const seLinuxOptions =
  (types: readonly string[]) =>
  (pod: PodLike): Violation | undefined => {
    const optionsOf = (security: ValueObject): ValueObject => objectAt(security, 'seLinuxOptions')
    const isBad = (security: ValueObject): boolean => {
      const options = optionsOf(security)
      return (
        !types.includes(stringAt(options, 'type')) ||
        stringAt(options, 'user') !== '' ||
        stringAt(options, 'role') !== ''
      )
    }
    const setters = settersOf(pod, isBad)
    if (!setters) return undefined
    const options = setters.contexts.map(optionsOf)
    const bad = sorted(options.map(each => stringAt(each, 'type')).filter(type => !types.includes(type)))
    const what = [
      ...(bad.length > 0 ? [`${plural('type', 'types', bad.length)} ${quoted(bad)}`] : []),
      ...['user', 'role'].flatMap(field =>
        options.some(each => stringAt(each, field) !== '') ? [`${field} may not be set`] : [],
      ),
    ]
    return {
      reason: 'seLinuxOptions',
      detail: `${setters.who.join(' and ')} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`,
    }
  }

const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod'
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'

/** The annotations that were used before the field existed. */
function seccompAnnotations(pod: PodLike): Violation | undefined {
  const keys = [SECCOMP_POD, ...containersOf(pod).map(container => SECCOMP_CONTAINER + stringAt(container, 'name'))]
  const bad = keys.flatMap(key => {
    const value = pod.annotations[key]
    if (value === undefined || /^(runtime\/default$|docker\/default$|localhost\/)/.test(value)) return []
    return [`${key}=${quote(value)}`]
  })
  if (bad.length === 0) return undefined
  const what = plural('annotation', 'annotations', bad.length)
  return { reason: 'seccompProfile', detail: `forbidden ${what} ${sorted(bad).join(', ')}` }
}

export function seccompProfile(pod: PodLike): Violation | undefined {
  const typeOf = (security: ValueObject): string | undefined => profileOf(security, 'seccompProfile')
  const setters = settersOf(pod, security => {
    const type = typeOf(security)
    return type !== undefined && !isProfile(type)
  })
  if (!setters) return undefined
  const types = sorted(setters.contexts.map(security => typeOf(security)!))
  const who = setters.who.join(' and ')
  return {
    reason: 'seccompProfile',
    detail: `${who} must not set securityContext.seccompProfile.type to ${quoted(types)}`,
  }
}

const SAFE_SYSCTLS: readonly (readonly [since: number, names: readonly string[]])[] = [
  [
    0,
    [
      'kernel.shm_rmid_forced',
      'net.ipv4.ip_local_port_range',
      'net.ipv4.tcp_syncookies',
      'net.ipv4.ping_group_range',
      'net.ipv4.ip_unprivileged_port_start',
    ],
  ],
  [27, ['net.ipv4.ip_local_reserved_ports']],
  [
    29,
    [
      'net.ipv4.tcp_keepalive_time',
      'net.ipv4.tcp_fin_timeout',
      'net.ipv4.tcp_keepalive_intvl',
      'net.ipv4.tcp_keepalive_probes',
    ],
  ],
  [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']],
]

function sysctls(minor: number): (pod: PodLike) => Violation | undefined {
  const safe = new Set(SAFE_SYSCTLS.flatMap(([since, names]) => (since <= minor ? names : [])))
  return ({ spec }) => {
    const names = objectsAt(securityOf(spec), 'sysctls').map(sysctl => stringAt(sysctl, 'name'))
    const bad = names.filter(name => !safe.has(name))
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') }
  }
}

function windowsHostProcess(pod: PodLike): Violation | undefined {
  const setters = settersOf(pod, security => objectAt(security, 'windowsOptions')['hostProcess'] === true)
  if (!setters) return undefined
  const who = setters.who.join(' and ')
  return { reason: 'hostProcess', detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` }
}

export const baselineChecks: readonly Check[] = [
  { id: 'appArmorProfile', since: [[0, appArmorProfile]] },
  { id: 'capabilities_baseline', since: [[0, capabilities]] },
  { id: 'hostNamespaces', since: [[0, hostNamespaces]] },
  { id: 'hostPathVolumes', since: [[0, hostPathVolumes]] },
  { id: 'hostPorts', since: [[0, hostPorts]] },
  { id: 'hostProbesAndHostLifecycle', since: [[34, hostProbes]] },
  { id: 'privileged', since: [[0, privileged]] },
  {
    id: 'procMount',
    since: [
      [0, procMount],
      [35, pod => (hasOwnUsers(pod) ? undefined : procMount(pod))],
    ],
  },
  {
    id: 'seLinuxOptions',
    since: [
      [0, seLinuxOptions(SELINUX_TYPES)],
      [31, seLinuxOptions([...SELINUX_TYPES, 'container_engine_t'])],
    ],
  },
  {
    id: 'seccompProfile_baseline',
    since: [
      [0, seccompAnnotations],
      [19, seccompProfile],
    ],
  },
  { id: 'sysctls', since: SAFE_SYSCTLS.map(([minor]) => [minor, sysctls(minor)]) },
  { id: 'windowsHostProcess', since: [[0, windowsHostProcess]] },
]
