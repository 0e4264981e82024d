// Volumes that outlive pods: how large, who may mount them how, and where they are.
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { has, objectAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { printQuantity, signOf } from '../../meta/values/quantity.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkImmutable, checkOneOf, sameValue } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'
import { checkAccessModes, checkClassName, VOLUME_MODES } from '../validation/volume-claims.js'
import { amountOf } from './pod/container-resources.js'
import { diffSpecs } from './pod/spec-diff.js'

const check = (volume: ValueObject): FieldError[] => [
  ...checkMeta(volume, { namespaced: false }),
  ...checkSpec(objectAt(volume, 'spec'), 'spec'),
]

export const persistentVolumeValidation: Validation = {
  create: check,
  update: (volume, old) => [
    ...check(volume),
    ...checkMetaUpdate(volume, old),
    ...checkChange(objectAt(volume, 'spec'), objectAt(old, 'spec')),
  ],
  status: checkMetaUpdate,
}

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain']

function checkSpec(spec: ValueObject, path: string): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const modes = stringsAt(spec, 'accessModes')
  return [
    ...(modes.length === 0 ? [fieldRequired(at('accessModes'))] : checkAccessModes(modes, at('accessModes'))),
    ...checkCapacity(objectAt(spec, 'capacity'), at('capacity')),
    ...(stringAt(spec, 'persistentVolumeReclaimPolicy') === ''
      ? []
      : checkOneOf(
          stringAt(spec, 'persistentVolumeReclaimPolicy'),
          RECLAIM_POLICIES,
          at('persistentVolumeReclaimPolicy'),
        )),
    ...checkSource(spec, path),
    ...checkRecycling(spec, path),
    ...checkClassName(spec, 'storageClassName', at('storageClassName')),
    ...(has(spec, 'volumeMode') ? checkOneOf(stringAt(spec, 'volumeMode'), VOLUME_MODES, at('volumeMode')) : []),
    ...checkClassName(spec, 'volumeAttributesClassName', at('volumeAttributesClassName')),
  ]
}

/** Room, and nothing else. */
function checkCapacity(capacity: ValueObject, path: string): FieldError[] {
  const names = Object.keys(capacity)
  if (names.length === 0) return [fieldRequired(path)]
  const errors =
    names.length > 1 || names[0] !== 'storage' ? [fieldNotSupported(path, { ...capacity }, ['storage'])] : []
  return errors.concat(
    names.flatMap(name => {
      const amount = amountOf(capacity, name)
      if (amount === undefined || signOf(amount) > 0) return []
      return [fieldInvalid(keyPath(path, name), printQuantity(amount), 'must be greater than zero')]
    }),
  )
}

/** Where a volume can be, with what each place cannot be without; in the order in which the first one counts. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  hostPath: ['path'],
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  glusterfs: ['endpoints', 'path'],
  flocker: [],
  nfs: ['server', 'path'],
  rbd: ['image'],
  quobyte: ['registry', 'volume'],
  cephfs: [],
  iscsi: ['targetPortal', 'iqn'],
  cinder: ['volumeID'],
  fc: [],
  flexVolume: ['driver'],
  azureFile: ['secretName', 'shareName'],
  vsphereVolume: ['volumePath'],
  photonPersistentDisk: ['pdID'],
  portworxVolume: ['volumeID'],
  azureDisk: ['diskName', 'diskURI'],
  scaleIO: ['gateway', 'system', 'volumeName'],
  local: ['path'],
  storageos: [],
  csi: ['driver', 'volumeHandle'],
}

function checkSource(spec: ValueObject, path: string): FieldError[] {
  const given = Object.keys(SOURCES).filter(source => has(spec, source))
  if (given.length === 0) return [fieldRequired(path, 'must specify a volume type')]
  return given.flatMap((source, i) => {
    const at = childPath(path, source)
    if (i > 0) return [fieldForbidden(at, 'may not specify more than 1 volume type')]
    const place = objectAt(spec, source)
    return SOURCES[source]!.filter(field => stringAt(place, field) === '').map(field =>
      fieldRequired(childPath(at, field)),
    )
  })
}

/** Whoever empties the root of a machine has no machine left. */
const checkRecycling = (spec: ValueObject, path: string): FieldError[] =>
  stringAt(objectAt(spec, 'hostPath'), 'path') === '/' && stringAt(spec, 'persistentVolumeReclaimPolicy') === 'Recycle'
    ? [
        fieldForbidden(
          childPath(path, 'persistentVolumeReclaimPolicy'),
          "may not be 'recycle' for a hostPath mount of '/'",
        ),
      ]
    : []

/** A volume stays where it is. */
function checkChange(spec: ValueObject, before: ValueObject): FieldError[] {
  const isSame = Object.keys(SOURCES).every(source => sameValue(getOwn(spec, source), getOwn(before, source)))
  const type = 'core/v1.PersistentVolumeSource'
  return [
    ...(isSame
      ? []
      : [
          fieldForbidden(
            'spec.persistentvolumesource',
            `spec.persistentvolumesource is immutable after creation\n${diffSpecs(type, before, spec)}`,
          ),
        ]),
    ...checkImmutable(spec, before, 'volumeMode', 'volumeMode'),
  ]
}
