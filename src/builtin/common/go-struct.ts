// Values as messages of kube-apiserver show them: with Go's names of the fields and with fields that are not set.
import { asStruct, type Printed } from '../../meta/errors/field-errors.js'
import { compareTexts } from '../../meta/go/go-text.js'
import { has, objectAt } from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import type { Field, Type } from '../../types/type.js'
import { builtinTypes } from '../../types/type-table.js'

/** A bad value of that type as messages show it, on one line. */
export const asGoStruct = (typeName: string, object: ValueObject): Printed => asStruct(goStruct(typeName, object))

/** A field of an object of that type, whether or not it is set. */
export const asGoField = (typeName: string, object: ValueObject, name: string): Printed | Value => {
  const field = builtinTypes().byName(typeName).fields.get(name)!
  const value = goField(field, asGiven(object, name))
  return isObject(value) || Array.isArray(value) ? asStruct(value) : value
}

/** A label selector, which may be none. */
export const asSelector = (selector: Value | undefined): Printed =>
  asStruct(goValue(builtinTypes().byName('meta/v1.LabelSelector'), selector ?? null))

/** A template as messages show it: Go's embedded ObjectMeta has no member of its own. */
export const asGoClaimTemplate = (template: ValueObject): Printed =>
  asStruct({
    ...objectAt(template, 'metadata'),
    Spec: goStruct('resource/v1.ResourceClaimSpec', objectAt(template, 'spec')),
  })

/** The same for a pod template. */
export const asGoTemplate = (template: ValueObject): Printed => {
  const [metadata, spec] = [objectAt(template, 'metadata'), objectAt(template, 'spec')]
  return asStruct({ ...metadata, Spec: goPodSpec(spec) })
}

/** The spec of a pod template alone. */
export const asGoPodSpec = (spec: ValueObject): Printed => asStruct(goPodSpec(spec))

const goPodSpec = (spec: ValueObject): ValueObject => goStruct('core/v1.PodSpec', withHostFields(spec))

/** kube-apiserver's internal type has these fields in the security context. */
const HOST_FIELDS = ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace', 'hostUsers']

export function withHostFields(spec: ValueObject): ValueObject {
  const shared = Object.fromEntries(HOST_FIELDS.flatMap(name => (name in spec ? [[name, spec[name]!]] : [])))
  const context = isObject(spec['securityContext']) ? spec['securityContext'] : {}
  return { ...spec, securityContext: { ...shared, ...context } }
}

const POD_VOLUME_SOURCES = [
  'hostPath',
  'emptyDir',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'persistentVolumeClaim',
  'rbd',
  'quobyte',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'downwardAPI',
  'fc',
  'azureFile',
  'configMap',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
  'projected',
  'portworxVolume',
  'scaleIO',
  'storageos',
  'csi',
  'ephemeral',
  'image',
]

const PERSISTENT_VOLUME_SOURCES = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'hostPath',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'flexVolume',
  'cinder',
  'cephfs',
  'fc',
  'flocker',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'local',
  'storageos',
  'csi',
]

/** The order of fields in internal types that differ from the versioned ones; others are in the order of the table. */
const ORDER: Readonly<Record<string, readonly string[]>> = {
  'core/v1.PodSpec': [
    'volumes',
    'initContainers',
    'containers',
    'ephemeralContainers',
    'restartPolicy',
    'terminationGracePeriodSeconds',
    'activeDeadlineSeconds',
    'dnsPolicy',
    'nodeSelector',
    'serviceAccountName',
    'automountServiceAccountToken',
    'nodeName',
    'securityContext',
    'imagePullSecrets',
    'hostname',
    'subdomain',
    'setHostnameAsFQDN',
    'affinity',
    'schedulerName',
    'tolerations',
    'hostAliases',
    'priorityClassName',
    'priority',
    'preemptionPolicy',
    'dnsConfig',
    'readinessGates',
    'runtimeClassName',
    'overhead',
    'enableServiceLinks',
    'topologySpreadConstraints',
    'os',
    'schedulingGates',
    'resourceClaims',
    'resources',
    'hostnameOverride',
    'schedulingGroup',
  ],
  'core/v1.PodSecurityContext': [
    ...HOST_FIELDS,
    'seLinuxOptions',
    'windowsOptions',
    'runAsUser',
    'runAsGroup',
    'runAsNonRoot',
    'supplementalGroups',
    'supplementalGroupsPolicy',
    'fsGroup',
    'fsGroupChangePolicy',
    'sysctls',
    'seccompProfile',
    'appArmorProfile',
    'seLinuxChangePolicy',
  ],
  'core/v1.Volume': ['name', ...POD_VOLUME_SOURCES],
  'core/v1.PersistentVolumeSource': PERSISTENT_VOLUME_SOURCES,
  'core/v1.PersistentVolumeSpec': [
    'capacity',
    ...PERSISTENT_VOLUME_SOURCES,
    'accessModes',
    'claimRef',
    'persistentVolumeReclaimPolicy',
    'storageClassName',
    'mountOptions',
    'volumeMode',
    'nodeAffinity',
    'volumeAttributesClassName',
  ],
  'batch/v1.JobSpec': [
    'parallelism',
    'completions',
    'podFailurePolicy',
    'successPolicy',
    'activeDeadlineSeconds',
    'backoffLimit',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
    'selector',
    'manualSelector',
    'template',
    'ttlSecondsAfterFinished',
    'completionMode',
    'suspend',
    'podReplacementPolicy',
    'managedBy',
  ],
}

export function goStruct(typeName: string, object: ValueObject): ValueObject {
  const { fields } = builtinTypes().byName(typeName)
  const struct: ValueObject = {}
  for (const name of ORDER[typeName] ?? fields.keys()) {
    const field = fields.get(name) ?? builtinTypes().byName('core/v1.PodSpec').fields.get(name)
    if (field === undefined) continue
    if (field.type.name === 'meta/v1.ObjectMeta') {
      // It is embedded, so that its fields are among those of the struct.
      Object.assign(struct, objectAt(object, name))
      continue
    }
    struct[RENAMED[typeName]?.[name] ?? goName(name)] = goField(field, asGiven(object, name))
  }
  return struct
}

const goField = ({ type, go }: Field, value: Value): Value =>
  value === null && go!.spec.pointer === true ? null : goValue(type, value)

function goValue(type: Type, value: Value): Value {
  switch (type.kind) {
    case 'list':
      return Array.isArray(value) ? value.map(item => goValue(type.element!, item)) : null
    case 'map':
      return isObject(value) ? byKey(value, member => goValue(type.element!, member)) : value
    case 'bytes':
    case 'any':
      return value
    case 'object':
    case 'special':
      if (type.name === 'api/resource.Quantity') return value ?? '0'
      if (type.name.startsWith('meta/v1.')) return isObject(value) ? metaStruct(type, value) : value
      if (type.fields.size === 0) return value ?? (type.name.endsWith('String') ? 0 : null)
      return goStruct(type.name, isObject(value) ? value : {})
    default:
      return value ?? { string: '', bool: false, int32: 0, int64: 0, float64: 0 }[type.kind]
  }
}

/** Types of meta/v1 are the same in every version, with the names of JSON and without what is not set. */
function metaStruct({ fields }: Type, object: ValueObject): ValueObject {
  const given = [...fields].filter(([name]) => has(object, name))
  return Object.fromEntries(given.map(([name, field]) => [name, goValue(field.type, object[name]!)]))
}

/** Go prints maps by key. */
const byKey = (map: ValueObject, show: (member: Value) => Value): ValueObject =>
  Object.fromEntries(
    Object.keys(map)
      .toSorted(compareTexts)
      .map(key => [key, show(map[key]!)]),
  )

/** Words at the start of a name that Go writes in capitals. */
const CAPITALS =
  /^(dns|tty|tcp|http|grpc|nfs|iscsi|rbd|fc|csi|gce|aws|pd|fs|ip|os|se|api|uid|gid|gmsa|qos|wwids|url)(?=[A-Z]|$)/

const OWN_NAMES: Readonly<Record<string, string>> = {
  cephfs: 'CephFS',
  scaleIO: 'ScaleIO',
  httpHeaders: 'HTTPHeaders',
  wwids: 'WWIDs',
  iqn: 'IQN',
  storageos: 'StorageOS',
  pdID: 'PdID',
  sslEnabled: 'SSLEnabled',
  ttlSecondsAfterFinished: 'TTLSecondsAfterFinished',
  cidr: 'CIDR',
  cidrs: 'CIDRs',
  tls: 'TLS',
  cel: 'CEL',
  ips: 'IPs',
  jsonPatch: 'JSONPatch',
  caBundle: 'CABundle',
}

const RBD = { monitors: 'CephMonitors', image: 'RBDImage', pool: 'RBDPool', user: 'RadosUser' }
const ISCSI = { chapAuthDiscovery: 'DiscoveryCHAPAuth', chapAuthSession: 'SessionCHAPAuth' }
const GLUSTERFS = { endpoints: 'EndpointsName' }

/** Fields that kube-apiserver's internal types name otherwise. */
const RENAMED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'certificates/v1beta1.PodCertificateRequestSpec': { pkixPublicKey: 'PKIXPublicKey' },
  'core/v1.RBDVolumeSource': RBD,
  'core/v1.RBDPersistentVolumeSource': RBD,
  'core/v1.ISCSIVolumeSource': ISCSI,
  'core/v1.ISCSIPersistentVolumeSource': ISCSI,
  'core/v1.GlusterfsVolumeSource': GLUSTERFS,
  'core/v1.GlusterfsPersistentVolumeSource': GLUSTERFS,
  'core/v1.AzureDiskVolumeSource': { diskURI: 'DataDiskURI' },
  'resource/v1.DeviceAttribute': {
    int: 'IntValue',
    bool: 'BoolValue',
    string: 'StringValue',
    version: 'VersionValue',
    ints: 'IntValues',
    bools: 'BoolValues',
    strings: 'StringValues',
    versions: 'VersionValues',
  },
}

const goName = (name: string): string =>
  OWN_NAMES[name] ??
  (CAPITALS.test(name)
    ? name.replace(CAPITALS, word => word.toUpperCase())
    : name.slice(0, 1).toUpperCase() + name.slice(1))
