// The sources that a volume of a pod and a persistent volume share: where the data is, as a list of rules for each.
import {
  asString,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsLabel } from '../../meta/object/names.js'
import { has, mapAt, numberAt, numberOrNone, objectAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkDriverName } from '../common/driver-name.js'
import { check, format, ifSet, oneOf, optionalOneOf, type Rule, range, required, run, when } from '../common/rules.js'

export interface VolumeSource {
  readonly rules: readonly Rule[]
  /** The name of the source in the paths of errors, where kube-apiserver uses another one than that of the field. */
  readonly path?: string
  /** The same for the error about a second source. */
  readonly secondPath?: string
  /** kube-apiserver does not count this source: it is checked beside another. */
  readonly mayBeSecond?: boolean
}

export type VolumeSources = Readonly<Record<string, VolumeSource>>

/** Exactly one of the sources. If several are given, the first in the order of the record counts. */
export function checkVolumeSource(volume: ValueObject, sources: VolumeSources, path: string): FieldError[] {
  const given = Object.keys(sources).filter(source => has(volume, source))
  if (given.length === 0) return [fieldRequired(path, 'must specify a volume type')]
  return given.flatMap((source, i) => {
    const { rules, path: own = source, secondPath = source, mayBeSecond = false } = sources[source]!
    if (i > 0 && !mayBeSecond)
      return [fieldForbidden(childPath(path, secondPath), 'may not specify more than 1 volume type')]
    return run(rules, objectAt(volume, source), undefined, childPath(path, own))
  })
}

// ---- paths

/** A path may not lead upwards. */
export const checkNoBacksteps = (text: string, path: string): FieldError[] =>
  text.split('/').includes('..') ? [fieldInvalid(path, text, "must not contain '..'")] : []

/** A path below another. */
export const checkRelativePath = (text: string, path: string): FieldError[] => [
  ...(text.startsWith('/') ? [fieldInvalid(path, text, 'must be a relative path')] : []),
  ...checkNoBacksteps(text, path),
]

// ---- sources

const present =
  (name: string): ((value: ValueObject) => boolean) =>
  value =>
    stringAt(value, name) !== ''

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

export const hostPath: VolumeSource = {
  rules: [
    required('path'),
    when(present('path'), [
      check((source, path) => checkNoBacksteps(stringAt(source, 'path'), childPath(path, 'path'))),
      optionalOneOf('type', HOST_PATH_TYPES),
    ]),
  ],
}

const partition = check((disk, path) => {
  const given = numberAt(disk, 'partition')
  if (given >= 0 && given <= 255) return []
  return [fieldInvalid(childPath(path, 'partition'), given, 'must be between 1 and 255, inclusive')]
})

const absolutePath = check((source, path) => {
  const given = stringAt(source, 'path')
  return given.startsWith('/') ? [] : [fieldInvalid(childPath(path, 'path'), given, 'must be an absolute path')]
})

const HOST_AND_PORT = /^(\[[^\][]*\]|[^:[\]]*):[^:[\]]*$/
const HOST_PORT_PAIRS = 'must be a host:port pair or multiple pairs separated by commas'

const quobyteRegistry = check((source, path) => {
  const registry = stringAt(source, 'registry')
  const at = childPath(path, 'registry')
  if (registry === '') return [fieldRequired(at, HOST_PORT_PAIRS)]
  if (stringAt(source, 'tenant').length > 64) {
    return [fieldRequired(childPath(path, 'tenant'), 'must be a UUID and may not exceed a length of 64 characters')]
  }
  const wrong = registry.split(',').filter(pair => !HOST_AND_PORT.test(pair))
  return wrong.map(() => fieldInvalid(at, registry, HOST_PORT_PAIRS))
})

const flockerDataset = check((source, path) => {
  const [name, uuid] = [stringAt(source, 'datasetName'), stringAt(source, 'datasetUUID')]
  const errors: FieldError[] = []
  if (name === '' && uuid === '') errors.push(fieldRequired(path, 'one of datasetName and datasetUUID is required'))
  if (name !== '' && uuid !== '') {
    const why = 'datasetName and datasetUUID can not be specified simultaneously'
    errors.push(fieldInvalid(path, 'resource', why))
  }
  if (name.includes('/')) errors.push(fieldInvalid(childPath(path, 'datasetName'), name, "must not contain '/'"))
  return errors
})

const fibreChannelTargets = check((source, path) => {
  const targets = stringsAt(source, 'targetWWNs')
  const wwids = stringsAt(source, 'wwids')
  const lun = numberOrNone(source, 'lun')
  const at = childPath(path, 'targetWWNs')
  const lunPath = childPath(path, 'lun')
  const errors: FieldError[] = []
  if (targets.length === 0 && wwids.length === 0) {
    errors.push(fieldRequired(at, 'must specify either targetWWNs or wwids, but not both'))
  }
  if (targets.length > 0 && wwids.length > 0) {
    errors.push(fieldInvalid(at, [...targets], 'targetWWNs and wwids can not be specified simultaneously'))
  }
  if (targets.length === 0) return errors
  if (lun === undefined) errors.push(fieldRequired(lunPath, 'lun is required if targetWWNs is specified'))
  else if (lun < 0 || lun > 255) errors.push(fieldInvalid(lunPath, lun, 'must be between 0 and 255, inclusive'))
  return errors
})

/** Options in the domains of Kubernetes are its own. */
const flexOptions = check((source, path) =>
  Object.keys(mapAt(source, 'options')).flatMap(key => {
    const domain = `.${key.split('/', 1)[0]!.toLowerCase()}`
    if (!domain.endsWith('.kubernetes.io') && !domain.endsWith('.k8s.io')) return []
    const at = keyPath(childPath(path, 'options'), key)
    return [fieldInvalid(at, key, 'kubernetes.io and k8s.io namespaces are reserved')]
  }),
)

const MANAGED_DISK = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
const BLOB_DISK = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'

/** The form of the URI depends on the kind of the disk. */
const azureDiskUri = check((disk, path) => {
  if (!has(disk, 'kind')) return []
  const uri = stringAt(disk, 'diskURI')
  const isManaged = stringAt(disk, 'kind') === 'Managed'
  if (uri.startsWith(isManaged ? '/subscriptions/' : 'https://')) return []
  return [fieldNotSupported(childPath(path, 'diskURI'), asString(uri), [isManaged ? MANAGED_DISK : BLOB_DISK])]
})

/** Sources with the same rules in pods and persistent volumes. */
export const SHARED_SOURCES = {
  hostPath,
  gcePersistentDisk: { path: 'persistentDisk', rules: [required('pdName'), partition] },
  awsElasticBlockStore: { rules: [required('volumeID'), partition] },
  flocker: { rules: [flockerDataset] },
  nfs: { rules: [required('server'), required('path'), absolutePath] },
  rbd: { rules: [required('monitors'), required('image')] },
  quobyte: { rules: [quobyteRegistry, required('volume')] },
  cephfs: { secondPath: 'cephFS', rules: [required('monitors')] },
  fc: { rules: [fibreChannelTargets] },
  flexVolume: { rules: [required('driver'), flexOptions] },
  vsphereVolume: { rules: [required('volumePath')] },
  photonPersistentDisk: { rules: [required('pdID')] },
  portworxVolume: { rules: [required('volumeID')] },
  azureDisk: {
    rules: [
      required('diskName'),
      required('diskURI'),
      ifSet('cachingMode', [oneOf('cachingMode', ['None', 'ReadOnly', 'ReadWrite'])]),
      optionalOneOf('kind', ['Dedicated', 'Managed', 'Shared']),
      azureDiskUri,
    ],
  },
  scaleIO: { rules: [required('gateway'), required('system'), required('volumeName')] },
} as const satisfies VolumeSources

export const glusterfsRules: readonly Rule[] = [required('endpoints'), required('path')]
export const azureFileRules: readonly Rule[] = [required('secretName'), required('shareName')]
export const storageOsRules: readonly Rule[] = [
  format('volumeName', checkDnsLabel, { required: true }),
  format('volumeNamespace', checkDnsLabel),
]

// ---- iSCSI

const IQN_FORMS: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
}

const MAX_IQN = 1024

function checkIqn(iqn: string, path: string, prefixMessage: string): FieldError[] {
  const form = IQN_FORMS[iqn.slice(0, 3)]
  if (form === undefined) return [fieldInvalid(path, iqn, prefixMessage)]
  // The first form is not anchored, so that its test takes quadratic time: longer names than this are not tried.
  return iqn.length <= MAX_IQN && form.test(iqn) ? [] : [fieldInvalid(path, iqn, 'must be valid format')]
}

/** `prefixMessage`: what is said of a name that starts with none of the three forms. */
export const iscsiRules = (prefixMessage: string, secretRef: readonly Rule[]): readonly Rule[] => [
  required('targetPortal'),
  required('iqn'),
  when(present('iqn'), [
    check((source, path) => checkIqn(stringAt(source, 'iqn'), childPath(path, 'iqn'), prefixMessage)),
  ]),
  range('lun', 0, 255),
  when(source => source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true, [required('secretRef')]),
  ...secretRef,
  ifSet('initiatorName', [
    check((source, path) =>
      checkIqn(stringAt(source, 'initiatorName'), childPath(path, 'initiatorname'), prefixMessage),
    ),
  ]),
]

const MAX_PORTAL = 64

export const PORTAL_TOO_LONG =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'

export const isPortalTooLong = (volumeName: string, iscsi: ValueObject): boolean =>
  has(iscsi, 'initiatorName') && Buffer.byteLength(`${volumeName}:${stringAt(iscsi, 'targetPortal')}`) > MAX_PORTAL

// ---- CSI

export const csiDriver = check((source, path) => checkDriverName(stringAt(source, 'driver'), childPath(path, 'driver')))
