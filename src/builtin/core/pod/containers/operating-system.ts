// What a pod may set on Linux and on Windows, and the options that only Windows has.
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
} from '../../../../meta/errors/field-errors.js'
import { checkDnsSubdomain } from '../../../../meta/object/names.js'
import { has, objectAt, stringAt } from '../../../../meta/values/access.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkOneOf } from '../../../common/field-checks.js'
import { check, formatIfSet, ifSet, type Rule } from '../../../common/rules.js'
import { allContainers } from './all-containers.js'

// ---- fields of the other system

const ON_WINDOWS = 'cannot be set for a windows pod'

/** In the order of kube-apiserver's errors. Those without a prefix are fields of the spec. */
const LINUX_POD_FIELDS = [
  'securityContext.appArmorProfile',
  'securityContext.seLinuxOptions',
  'hostUsers',
  'hostPID',
  'hostIPC',
  'securityContext.seccompProfile',
  'securityContext.fsGroup',
  'securityContext.fsGroupChangePolicy',
  'securityContext.sysctls',
  'shareProcessNamespace',
  'securityContext.runAsUser',
  'securityContext.runAsGroup',
  'securityContext.supplementalGroups',
  'securityContext.supplementalGroupsPolicy',
  'securityContext.seLinuxChangePolicy',
]

const LINUX_CONTAINER_FIELDS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
]

/** False is as good as absent for these. */
const FLAGS: ReadonlySet<string> = new Set(['hostPID', 'hostIPC'])

function isSet(object: ValueObject, name: string): boolean {
  const value = object[name] ?? null
  if (FLAGS.has(name)) return value === true
  return name === 'sysctls' ? Array.isArray(value) && value.length > 0 : value !== null
}

function checkWindows(spec: ValueObject, path: string): FieldError[] {
  const ofPod = LINUX_POD_FIELDS.filter(name => {
    const [owner, member] = name.split('.') as [string, string?]
    return member === undefined ? isSet(spec, owner) : isSet(objectAt(spec, owner), member)
  })
  return [
    ...ofPod.map(name => fieldForbidden(`${path}.${name}`, ON_WINDOWS)),
    ...allContainers(spec, path).flatMap(({ container, path: at }) =>
      LINUX_CONTAINER_FIELDS.filter(name => isSet(objectAt(container, 'securityContext'), name)).map(name =>
        fieldForbidden(`${at}.securityContext.${name}`, ON_WINDOWS),
      ),
    ),
  ]
}

function checkLinux(spec: ValueObject, path: string): FieldError[] {
  const owners = [{ container: spec, path }, ...allContainers(spec, path)]
  return owners
    .filter(({ container }) => has(objectAt(container, 'securityContext'), 'windowsOptions'))
    .map(({ path: at }) =>
      fieldForbidden(`${at}.securityContext.windowsOptions`, 'windows options cannot be set for a linux pod'),
    )
}

export const operatingSystem: Rule = ifSet('os', [
  check((spec, path) => {
    const at = childPath(path, 'os')
    const name = stringAt(objectAt(spec, 'os'), 'name')
    if (name === '') return [fieldRequired(childPath(at, 'name'))]
    if (name === 'linux') return checkLinux(spec, path)
    return name === 'windows' ? checkWindows(spec, path) : checkOneOf(name, ['linux', 'windows'], at)
  }),
])

// ---- host processes

const hostProcessOf = (owner: ValueObject): boolean | undefined => {
  const value = objectAt(objectAt(owner, 'securityContext'), 'windowsOptions')['hostProcess']
  return typeof value === 'boolean' ? value : undefined
}

/** Containers that run as processes of a Windows host: all of a pod or none, on the network of the host. */
export const hostProcesses: Rule = check((spec, path) => {
  const ofPod = hostProcessOf(spec)
  const errors: FieldError[] = []
  const containers = allContainers(spec, path)
  let count = 0
  for (const { container, path: at } of containers) {
    const own = hostProcessOf(container)
    if (own ?? ofPod) count++
    if (ofPod === undefined || own === undefined || own === ofPod) continue
    const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`
    errors.push(fieldInvalid(`${at}.securityContext.windowsOptions.hostProcess`, own, why))
  }
  if (count === 0) return errors
  if (count < containers.length) {
    const why = 'If pod contains any hostProcess containers then all containers must be HostProcess containers'
    errors.push(fieldInvalid(path, '', why))
  }
  if (spec['hostNetwork'] !== true) {
    const why = 'hostNetwork must be true if pod contains any hostProcess containers'
    errors.push(fieldInvalid(childPath(path, 'hostNetwork'), false, why))
  }
  return errors
})

// ---- options

const MAX_CREDENTIAL_SPEC_KIB = 64
const MAX_DOMAIN = 256
const MAX_USER = 104

const credentialSpec = ifSet('gmsaCredentialSpec', [
  check((options, path) => {
    const length = Buffer.byteLength(stringAt(options, 'gmsaCredentialSpec'))
    const invalid = (why: string): FieldError[] => [
      fieldInvalid(childPath(path, 'gmsaCredentialSpec'), stringAt(options, 'gmsaCredentialSpec'), why),
    ]
    if (length === 0) return invalid('gmsaCredentialSpec cannot be an empty string')
    return length > MAX_CREDENTIAL_SPEC_KIB * 1024
      ? invalid(`gmsaCredentialSpec size must be under ${MAX_CREDENTIAL_SPEC_KIB} KiB`)
      : []
  }),
])

const CONTROL = /\p{Cc}/u
const NET_BIOS = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const DNS_DOMAIN = /^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

/** A user of Windows, `DOMAIN\user` or `user`: what is wrong with it. */
function userNameErrors(name: string): string[] {
  if (name === '') return ['cannot be an empty string']
  if (CONTROL.test(name)) return ['cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['cannot contain more than one backslash']
  const [domain, user] = parts.length === 1 ? [undefined, parts[0]!] : [parts[0]!, parts[1]!]
  const errors: string[] = []
  if (domain !== undefined && domain.length >= MAX_DOMAIN) {
    errors.push(`'s Domain length must be under ${MAX_DOMAIN} characters`)
  }
  if (domain !== undefined && !NET_BIOS.test(domain) && !DNS_DOMAIN.test(domain)) {
    errors.push("'s Domain doesn't match the NetBios nor the DNS format")
  }
  if (user === '') errors.push("'s User cannot be empty")
  else if (user.length > MAX_USER) errors.push(`'s User length must not be longer than ${MAX_USER} characters`)
  if (/^[. ]+$/.test(user)) errors.push("'s User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    errors.push(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`)
  }
  return errors
}

const userName = ifSet('runAsUserName', [
  check((options, path) => {
    const name = stringAt(options, 'runAsUserName')
    return userNameErrors(name).map(why =>
      fieldInvalid(childPath(path, 'runAsUserName'), name, `runAsUserName${why.startsWith("'") ? '' : ' '}${why}`),
    )
  }),
])

/** The rules for `windowsOptions`. */
export const windowsOptionRules: readonly Rule[] = [
  formatIfSet('gmsaCredentialSpecName', checkDnsSubdomain),
  credentialSpec,
  userName,
]
