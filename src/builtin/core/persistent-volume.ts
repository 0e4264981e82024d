// PersistentVolume: storage that outlives pods.
import {
  childPath,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain } from '../../meta/object/names.js'
import {
  ensureObject,
  has,
  keepFrom,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
  stringsAt,
} from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { printQuantity, quantityAsFloat, signOf } from '../../meta/values/quantity.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkImmutable, sameValue } from '../common/field-checks.js'
import { asGoField } from '../common/go-struct.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import {
  check,
  checkUpdate,
  field,
  format,
  formatIfSet,
  ifSet,
  oneOf,
  optional,
  optionalOneOf,
  type Rule,
  required,
} from '../common/rules.js'
import { type BuiltinStrategy, inTurn, keepGeneration, keepSpec, keepStatus, same } from '../common/strategies.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { accessModes, CLASS_ANNOTATION, VOLUME_MODES } from './persistent-volume-claim.js'
import { amountOf } from './pod/containers/container-resources.js'
import { deprecatedLabelWarnings, withSuccessors } from './pod/spec/node-labels.js'
import { nodeSelectorRules } from './pod/spec/scheduling.js'
import { diffSpecs } from './pod/spec/spec-diff.js'
import { classOf, isBeingDeleted, printAccessModes, stringOrUnset } from './volume-cells.js'
import {
  azureFileRules,
  checkNoBacksteps,
  checkVolumeSource,
  csiDriver,
  glusterfsRules,
  iscsiRules,
  isPortalTooLong,
  PORTAL_TOO_LONG,
  SHARED_SOURCES,
  storageOsRules,
  type VolumeSources,
} from './volume-sources.js'

// ---- defaults and strategy

function defaults(volume: ValueObject): void {
  setDefault(ensureObject(volume, 'status'), 'phase', 'Pending')
  const spec = ensureObject(volume, 'spec')
  setDefault(spec, 'persistentVolumeReclaimPolicy', 'Retain')
  setDefault(spec, 'volumeMode', 'Filesystem', false)
  const hostPath = objectOrNone(spec, 'hostPath')
  if (hostPath !== undefined) setDefault(hostPath, 'type', '', false)
}

/** The status keeps the time of the last change of its phase. */
const strategy: BuiltinStrategy = {
  prepareForCreate: (volume, { now }) => {
    volume['status'] = { phase: 'Pending', lastPhaseTransitionTime: now }
  },
  prepareForUpdate: inTurn(keepGeneration, keepStatus),
  prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, (volume, old, { now }) => {
    const [status, before] = [ensureObject(volume, 'status'), objectAt(old, 'status')]
    const isGiven = has(status, 'lastPhaseTransitionTime')
    if (stringAt(status, 'phase') === stringAt(before, 'phase')) {
      if (!isGiven) keepFrom(status, before, 'lastPhaseTransitionTime')
    } else if (!isGiven || same(status, before, 'lastPhaseTransitionTime')) status['lastPhaseTransitionTime'] = now
  }),
  returnsDeletedObject: true,
}

// ---- sources

const namedSecret = optional('secretRef', [required('name')])
const namespacedSecret = optional('secretRef', [required('name'), required('namespace')])

const csiSecret = (name: string): Rule =>
  optional(name, [
    format('name', checkDnsSubdomain, { required: true }),
    format('namespace', checkDnsLabel, { required: true }),
  ])

const SOURCES: VolumeSources = {
  hostPath: SHARED_SOURCES.hostPath,
  gcePersistentDisk: SHARED_SOURCES.gcePersistentDisk,
  awsElasticBlockStore: SHARED_SOURCES.awsElasticBlockStore,
  glusterfs: { rules: [...glusterfsRules, formatIfSet('endpointsNamespace', checkDnsLabel)] },
  flocker: SHARED_SOURCES.flocker,
  nfs: SHARED_SOURCES.nfs,
  rbd: SHARED_SOURCES.rbd,
  quobyte: SHARED_SOURCES.quobyte,
  cephfs: SHARED_SOURCES.cephfs,
  iscsi: { rules: iscsiRules('must be valid format', [namedSecret]) },
  cinder: { rules: [required('volumeID'), namespacedSecret] },
  fc: SHARED_SOURCES.fc,
  flexVolume: { ...SHARED_SOURCES.flexVolume, mayBeSecond: true },
  azureFile: {
    rules: [...azureFileRules, ifSet('secretNamespace', [required('secretNamespace')])],
  },
  vsphereVolume: SHARED_SOURCES.vsphereVolume,
  photonPersistentDisk: SHARED_SOURCES.photonPersistentDisk,
  portworxVolume: SHARED_SOURCES.portworxVolume,
  azureDisk: SHARED_SOURCES.azureDisk,
  scaleIO: SHARED_SOURCES.scaleIO,
  local: {
    rules: [
      required('path'),
      check((source, path) => checkNoBacksteps(stringAt(source, 'path'), childPath(path, 'path'))),
    ],
  },
  storageos: { rules: [...storageOsRules, namespacedSecret] },
  csi: {
    rules: [
      csiDriver,
      required('volumeHandle'),
      csiSecret('controllerPublishSecretRef'),
      csiSecret('controllerExpandSecretRef'),
      csiSecret('nodePublishSecretRef'),
      csiSecret('nodeExpandSecretRef'),
    ],
  },
}

// ---- validation

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain']

/** `storage`, and nothing else. */
const capacity = check((spec, path) => {
  const given = objectAt(spec, 'capacity')
  const at = childPath(path, 'capacity')
  const names = Object.keys(given)
  const errors = names.length === 0 ? [fieldRequired(at)] : []
  if (names.length !== 1 || names[0] !== 'storage') {
    errors.push(fieldNotSupported(at, asGiven(spec, 'capacity'), ['storage']))
  }
  for (const name of names) {
    const amount = amountOf(given, name)
    if (amount === undefined || signOf(amount) > 0) continue
    // kube-apiserver's first error shows the amount as a number, the second as a string.
    if (signOf(amount) < 0) {
      errors.push(
        fieldInvalid(keyPath(at, name), Math.floor(quantityAsFloat(amount)), 'must be a valid resource quantity'),
      )
    }
    errors.push(fieldInvalid(keyPath(at, name), printQuantity(amount), 'must be greater than zero'))
  }
  return errors
})

const nodeAffinityRules: readonly Rule[] = [
  check((affinity, path) =>
    has(affinity, 'required')
      ? []
      : [fieldRequired(childPath(path, 'required'), 'must specify required node constraints')],
  ),
  optional('required', nodeSelectorRules),
]

const sourceOf = (spec: ValueObject): string | undefined => Object.keys(SOURCES).find(source => has(spec, source))

/** A local volume can be used only on its node. */
const localNeedsAffinity = check((spec, path) =>
  sourceOf(spec) === 'local' && !has(spec, 'nodeAffinity')
    ? [fieldRequired(childPath(path, 'nodeAffinity'), 'Local volume requires node affinity')]
    : [],
)

/** Recycling deletes everything below the path. */
const noRecycledRoot = check((spec, path) => {
  const isRoot = /^\/+$/.test(stringAt(objectAt(spec, 'hostPath'), 'path'))
  if (!isRoot || stringAt(spec, 'persistentVolumeReclaimPolicy') !== 'Recycle') return []
  const at = childPath(path, 'persistentVolumeReclaimPolicy')
  return [fieldForbidden(at, "may not be 'recycle' for a hostPath mount of '/'")]
})

const specRules: readonly Rule[] = [
  required('accessModes'),
  accessModes,
  capacity,
  optionalOneOf('persistentVolumeReclaimPolicy', RECLAIM_POLICIES),
  optional('nodeAffinity', nodeAffinityRules),
  check((spec, path) => checkVolumeSource(spec, SOURCES, path)),
  localNeedsAffinity,
  noRecycledRoot,
  format('storageClassName', checkDnsSubdomain),
  ifSet('volumeMode', [oneOf('volumeMode', VOLUME_MODES)]),
  ifSet('volumeAttributesClassName', [
    required('volumeAttributesClassName', 'an empty string is disallowed'),
    format('volumeAttributesClassName', checkDnsSubdomain),
    required('csi', 'has to be specified when using volumeAttributesClassName'),
  ]),
]

const notInline = (name: string): Rule =>
  check((spec, path) => {
    const isSet = name === 'capacity' ? Object.keys(objectAt(spec, name)).length > 0 : has(spec, name)
    return isSet ? [fieldForbidden(childPath(path, name), 'may not be specified in the context of inline volumes')] : []
  })

/** A field that may only have one value, and why it has no other. */
const onlyInline = (name: string, value: string, why: string): Rule =>
  check((spec, path) => {
    const given = stringAt(spec, name)
    return given === '' || given === value ? [] : [fieldForbidden(childPath(path, name), why)]
  })

/** The specification of a volume inside a VolumeAttachment. */
export const inlineVolumeRules: readonly Rule[] = [
  notInline('claimRef'),
  notInline('capacity'),
  required('csi', 'has to be specified in the context of inline volumes'),
  required('accessModes'),
  accessModes,
  onlyInline('persistentVolumeReclaimPolicy', 'Retain', 'may only be Retain in the context of inline volumes'),
  notInline('nodeAffinity'),
  check((spec, path) => checkVolumeSource(spec, SOURCES, path)),
  // No affinity is read in this context.
  check((spec, path) =>
    sourceOf(spec) === 'local'
      ? [fieldRequired(childPath(path, 'nodeAffinity'), 'Local volume requires node affinity')]
      : [],
  ),
  noRecycledRoot,
  notInline('storageClassName'),
  onlyInline(
    'volumeMode',
    'Filesystem',
    'may not specify volumeMode other than Filesystem in the context of inline volumes',
  ),
]

const immutableSource = checkUpdate((spec, old) => {
  const isSame = Object.keys(SOURCES).every(source => sameValue(getOwn(spec, source), getOwn(old, source)))
  if (isSame) return []
  const diff = diffSpecs('core/v1.PersistentVolumeSource', old, spec)
  const why = `spec.persistentvolumesource is immutable after creation\n${diff}`
  return [fieldForbidden('spec.persistentvolumesource', why)]
})

const attributesClassStays = checkUpdate((spec, old) =>
  has(old, 'volumeAttributesClassName') && !has(spec, 'volumeAttributesClassName')
    ? [fieldForbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden')]
    : [],
)

/** The path of this error has no `spec`. */
const immutableMode = checkUpdate((spec, old) => checkImmutable(spec, old, 'volumeMode', 'volumeMode'))

/** Once there is an affinity, only its labels may change to their successors. The path has no `spec`. */
const immutableAffinity = checkUpdate((spec, old) => {
  const [now, before] = [getOwn(spec, 'nodeAffinity') ?? null, getOwn(old, 'nodeAffinity') ?? null]
  if (before === null || sameValue(now, before) || sameValue(now, withSuccessors(before))) return []
  const shown = asGoField('core/v1.PersistentVolumeSpec', spec, 'nodeAffinity')
  return [fieldInvalid('nodeAffinity', shown, 'field is immutable, except for updating from beta label to GA')]
})

// ---- warnings

const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options'

const DEPRECATED_ANNOTATIONS: Readonly<Record<string, string>> = {
  [CLASS_ANNOTATION]: 'deprecated since v1.8; use "storageClassName" attribute instead',
  [MOUNT_OPTIONS]: 'deprecated since v1.31; use "mountOptions" attribute instead',
}

/** Sources whose plugins are gone, by field; messages name `storageos` in another way. */
const REMOVED_SOURCES: Readonly<Record<string, string>> = {
  cephfs: 'spec.cephfs: deprecated in v1.28, non-functional in v1.31+',
  photonPersistentDisk: 'spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'spec.scaleIO: deprecated in v1.16, non-functional in v1.22+',
  storageos: 'spec.storageOS: deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'spec.glusterfs: deprecated in v1.25, non-functional in v1.26+',
  rbd: 'spec.rbd: deprecated in v1.28, non-functional in v1.31+',
}

function warnings(volume: ValueObject): string[] {
  const annotations = objectAt(objectAt(volume, 'metadata'), 'annotations')
  const spec = objectAt(volume, 'spec')
  const terms = objectsAt(objectAt(objectAt(spec, 'nodeAffinity'), 'required'), 'nodeSelectorTerms')
  const recycled =
    'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. ' +
    'Instead, the recommended approach is to use dynamic provisioning.'
  return [
    ...Object.entries(DEPRECATED_ANNOTATIONS)
      .filter(([key]) => has(annotations, key))
      .map(([key, message]) => `${keyPath('metadata.annotations', key)}: ${message}`),
    ...(stringAt(spec, 'persistentVolumeReclaimPolicy') === 'Recycle' ? [recycled] : []),
    ...terms.flatMap((term, i) => deprecatedLabelWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${i}]`)),
    ...Object.keys(REMOVED_SOURCES)
      .filter(source => has(spec, source))
      .map(source => REMOVED_SOURCES[source]!),
  ]
}

// ---- Table

const row: TableRow = (volume, now) => {
  const spec = objectAt(volume, 'spec')
  const status = objectAt(volume, 'status')
  const claim = objectAt(spec, 'claimRef')
  return [
    nameOf(volume),
    stringAt(objectAt(spec, 'capacity'), 'storage') || '0',
    printAccessModes(stringsAt(spec, 'accessModes')),
    stringAt(spec, 'persistentVolumeReclaimPolicy'),
    isBeingDeleted(volume) ? 'Terminating' : stringAt(status, 'phase'),
    has(spec, 'claimRef') ? `${stringAt(claim, 'namespace')}/${stringAt(claim, 'name')}` : '',
    classOf(volume),
    stringOrUnset(spec, 'volumeAttributesClassName'),
    stringAt(status, 'reason'),
    ageOf(volume, now),
    stringOrUnset(spec, 'volumeMode'),
  ]
}

/** An initiator's connection is named after the volume and the portal. kube-apiserver writes the field in small letters. */
const portalLength = check(volume => {
  const iscsi = objectAt(objectAt(volume, 'spec'), 'iscsi')
  const name = stringAt(objectAt(volume, 'metadata'), 'name')
  if (!isPortalTooLong(name, iscsi)) return []
  return [fieldInvalid('spec.iscsi.targetportal', stringAt(iscsi, 'targetPortal'), PORTAL_TOO_LONG)]
})

/** The sources whose mounts take options from an annotation. */
const MOUNTED_WITH_OPTIONS = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
]

const mountOptions = check(volume => {
  const annotations = objectAt(objectAt(volume, 'metadata'), 'annotations')
  const spec = objectAt(volume, 'spec')
  if (!has(annotations, MOUNT_OPTIONS) || MOUNTED_WITH_OPTIONS.some(source => has(spec, source))) return []
  return [fieldForbidden(`metadata.annotations.${MOUNT_OPTIONS}`, 'may not specify mount options for this volume type')]
})

const rules: readonly Rule[] = [metadata({ namespaced: false }), field('spec', specRules), portalLength]

export const persistentVolume = defineKind('v1', 'PersistentVolume', {
  defaults,
  strategy,
  validation: validationRules({
    create: [...rules, mountOptions],
    // kube-apiserver validates a changed volume twice and reports all errors twice.
    update: [
      ...rules,
      mountOptions,
      ...rules,
      field('spec', [immutableSource, immutableMode, immutableAffinity, attributesClassStays]),
    ],
    status: [metadataUpdate],
  }),
  warnings,
  table: row,
})
