// The security contexts of containers and of pods.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldTooLong,
  indexPath,
} from '../../../../meta/errors/field-errors.js'
import { has, numberAt, objectAt, objectsAt, stringAt, stringsAt } from '../../../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../../../meta/values/value.js'
import { asGoStruct } from '../../../common/go-struct.js'
import {
  check,
  ifSet,
  oneOf,
  optional,
  optionalOneOf,
  type Rule,
  required,
  run,
  union,
  when,
} from '../../../common/rules.js'
import { checkRelativePath } from '../../volume-sources.js'
import { windowsOptionRules } from './operating-system.js'

// ---- what both have

const ID_RANGE = 'must be between 0 and 2147483647, inclusive'
const isId = (id: number): boolean => id >= 0 && id < 2 ** 31

/** The number of a user or a group. */
const id = (name: string): Rule =>
  check((context, path) => {
    const given = numberAt(context, name)
    return !has(context, name) || isId(given) ? [] : [fieldInvalid(childPath(path, name), given, ID_RANGE)]
  })

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined']

const seccompRules: readonly Rule[] = [
  required('type', 'type is required when seccompProfile is set'),
  optionalOneOf('type', PROFILE_TYPES),
  union(
    'type',
    {
      Localhost: [
        when(
          profile => !has(profile, 'localhostProfile'),
          [required('localhostProfile', 'must be set when seccomp type is Localhost')],
        ),
        check((profile, path) =>
          checkRelativePath(stringAt(profile, 'localhostProfile'), childPath(path, 'localhostProfile')),
        ),
      ],
    },
    [
      check((profile, path) => {
        if (!has(profile, 'localhostProfile')) return []
        const shown = asGoStruct('core/v1.SeccompProfile', profile)
        const at = childPath(path, 'localhostProfile')
        return [fieldInvalid(at, shown, 'can only be set when seccomp type is Localhost')]
      }),
    ],
  ),
]

const MAX_APP_ARMOR_PROFILE = 4095

const localAppArmorProfile = check((profile, path) => {
  const at = childPath(path, 'localhostProfile')
  const name = stringAt(profile, 'localhostProfile')
  const errors: FieldError[] = []
  if (name !== name.trim()) errors.push(fieldInvalid(at, name, 'must not be padded with whitespace'))
  if (Buffer.byteLength(name) > MAX_APP_ARMOR_PROFILE) errors.push(fieldTooLong(at, MAX_APP_ARMOR_PROFILE))
  return errors
})

const noLocalProfile = check((profile, path) => {
  if (!has(profile, 'localhostProfile')) return []
  const why = 'can only be set when AppArmor type is Localhost'
  return [fieldInvalid(childPath(path, 'localhostProfile'), stringAt(profile, 'localhostProfile'), why)]
})

const appArmorRules: readonly Rule[] = [
  union(
    'type',
    {
      Localhost: [required('localhostProfile', 'must be set when AppArmor type is Localhost'), localAppArmorProfile],
      RuntimeDefault: [noLocalProfile],
      Unconfined: [noLocalProfile],
      '': [required('type', 'type is required when appArmorProfile is set')],
    },
    [oneOf('type', PROFILE_TYPES)],
  ),
]

// ---- containers

/** /proc without masks would be that of the host, unless the pod has users of its own. */
const procMount = (hostUsers: boolean): Rule =>
  ifSet('procMount', [
    oneOf('procMount', ['Default', 'Unmasked']),
    check((context, path) =>
      hostUsers && stringAt(context, 'procMount') === 'Unmasked'
        ? [fieldInvalid(childPath(path, 'procMount'), 'Unmasked', '`hostUsers` must be false to use `Unmasked`')]
        : [],
    ),
  ])

const privilegeEscalation = check((context, path) => {
  if (getOwn(context, 'allowPrivilegeEscalation') !== false) return []
  const conflict = (what: string): FieldError =>
    fieldInvalid(
      path,
      asGoStruct('core/v1.SecurityContext', context),
      `cannot set \`allowPrivilegeEscalation\` to false and ${what}`,
    )
  const added = stringsAt(objectAt(context, 'capabilities'), 'add').filter(name => name === 'CAP_SYS_ADMIN')
  return [
    ...(getOwn(context, 'privileged') === true ? [conflict('`privileged` to true')] : []),
    ...added.map(() => conflict('`capabilities.Add` CAP_SYS_ADMIN')),
  ]
})

const containerRules = (hostUsers: boolean): readonly Rule[] => [
  id('runAsUser'),
  id('runAsGroup'),
  procMount(hostUsers),
  optional('seccompProfile', seccompRules),
  privilegeEscalation,
  optional('windowsOptions', windowsOptionRules),
  optional('appArmorProfile', appArmorRules),
]

const RULES = { own: containerRules(false), host: containerRules(true) }

/** `hostUsers`: the pod shares the users of its node. */
export const checkContainerSecurity = (context: ValueObject, hostUsers: boolean, path: string): FieldError[] =>
  run(hostUsers ? RULES.host : RULES.own, context, undefined, path)

// ---- pods

const SYSCTL_FORM = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const SYSCTL_PATTERN = `^(${SYSCTL_FORM}[\\./])*${SYSCTL_FORM}$`
const MAX_SYSCTL = 253

const sysctls = check((context, path) => {
  const seen = new Set<string>()
  return objectsAt(context, 'sysctls').flatMap((sysctl, i) => {
    const at = indexPath(childPath(path, 'sysctls'), i)
    const name = stringAt(sysctl, 'name')
    const errors = run(
      [
        required('name'),
        check((_, own) => {
          if (name === '') return []
          const isValid = name.length <= MAX_SYSCTL && new RegExp(SYSCTL_PATTERN).test(name)
          const why = `must have at most ${MAX_SYSCTL} characters and match regex ${SYSCTL_PATTERN}`
          return isValid ? [] : [fieldInvalid(childPath(own, 'name'), name, why)]
        }),
      ],
      sysctl,
      undefined,
      at,
    )
    if (errors.length === 0 && seen.has(name)) errors.push(fieldDuplicate(childPath(at, 'name'), name))
    seen.add(name)
    return errors
  })
})

const optionalChoice = (name: string, supported: readonly string[]): Rule =>
  when(context => has(context, name), [oneOf(name, supported)])

const supplementalGroups = check((context, path) => {
  const groups = getOwn(context, 'supplementalGroups')
  return (Array.isArray(groups) ? groups : []).flatMap((group, i) =>
    isId(Number(group)) ? [] : [fieldInvalid(indexPath(childPath(path, 'supplementalGroups'), i), group, ID_RANGE)],
  )
})

export const podSecurityRules: readonly Rule[] = [
  id('fsGroup'),
  id('runAsUser'),
  id('runAsGroup'),
  supplementalGroups,
  sysctls,
  optionalChoice('fsGroupChangePolicy', ['Always', 'OnRootMismatch']),
  optional('seccompProfile', seccompRules),
  optional('appArmorProfile', appArmorRules),
  optionalChoice('supplementalGroupsPolicy', ['Merge', 'Strict']),
  check((context, path) => checkChangePolicy(stringAt(context, 'seLinuxChangePolicy'), `${path}.seLinuxChangePolicy`)),
  optional('windowsOptions', windowsOptionRules),
]

/** `MountOption` is behind a feature gate that is off by default. */
function checkChangePolicy(policy: string, path: string): FieldError[] {
  if (policy === '' || policy === 'Recursive') return []
  const error = fieldNotSupported(path, policy, ['Recursive'])
  return [policy === 'MountOption' ? { ...error, gate: 'SELinuxMount' } : error]
}

const NETWORK_SYSCTL = /^net[./]/
const IPC_SYSCTL = /^(kernel[./](sem$|shm|msg)|fs[./]mqueue[./])/

/** Kernel parameters of a namespace that the pod shares with its node. */
export const hostSysctls: Rule = check((spec, path) =>
  objectsAt(objectAt(spec, 'securityContext'), 'sysctls').flatMap((sysctl, i) => {
    const name = stringAt(sysctl, 'name')
    const invalid = (field: string): FieldError[] => [
      fieldInvalid(`${path}.securityContext.sysctls[${i}].name`, name, `may not be specified when '${field}' is true`),
    ]
    if (spec['hostNetwork'] === true && NETWORK_SYSCTL.test(name)) return invalid('hostNetwork')
    return spec['hostIPC'] === true && IPC_SYSCTL.test(name) ? invalid('hostIPC') : []
  }),
)
