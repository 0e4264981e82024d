// What drivers of storage tell of themselves, of nodes and of room, and which volume is to be attached to which node.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain, checkQualifiedName } from '../../meta/object/names.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import {
  has,
  numberAt,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  stringAt,
  stringsAt,
} from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { checkImmutable, checkNotNegative, checkOneOf, checkText } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'
import { checkNotNegativeAmount } from '../core/pod/container-resources.js'
import { asGoStruct } from '../core/pod/spec-diff.js'

const DRIVER_NAME_MAX = 63

function checkDriverName(name: string, path: string): FieldError[] {
  if (name === '') return [fieldRequired(path)]
  const tooLong = name.length > DRIVER_NAME_MAX ? [fieldTooLong(path, DRIVER_NAME_MAX)] : []
  return [...tooLong, ...checkText(name, text => checkDnsSubdomain(text.toLowerCase()), path)]
}

// ---- drivers

const LIFECYCLE_MODES = ['Persistent', 'Ephemeral']
const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType']
const SHORTEST_PERIOD = 10

export const csiDriverValidation: Validation = {
  create: driver => [
    ...checkDriverName(stringAt(objectAt(driver, 'metadata'), 'name'), 'name'),
    ...checkDriver(objectAt(driver, 'spec')),
  ],
  update: (driver, old) => {
    const [spec, before] = [objectAt(driver, 'spec'), objectAt(old, 'spec')]
    return [
      ...checkMetaUpdate(driver, old),
      ...checkDriver(spec),
      ...checkImmutable(spec, before, 'attachRequired', 'spec.attachedRequired'),
      ...checkImmutable(spec, before, 'volumeLifecycleModes', 'spec.volumeLifecycleModes'),
    ]
  },
}

function checkDriver(spec: ValueObject): FieldError[] {
  const required = (...fields: readonly string[]): FieldError[] =>
    fields.filter(field => !has(spec, field)).map(field => fieldRequired(`spec.${field}`))
  const period = numberOrNone(spec, 'nodeAllocatableUpdatePeriodSeconds')
  return [
    ...required('attachRequired', 'podInfoOnMount', 'storageCapacity', 'fsGroupPolicy'),
    ...(has(spec, 'fsGroupPolicy')
      ? checkOneOf(stringAt(spec, 'fsGroupPolicy'), FS_GROUP_POLICIES, 'spec.fsGroupPolicy')
      : []),
    ...checkTokenRequests(spec),
    ...stringsAt(spec, 'volumeLifecycleModes').flatMap(mode =>
      checkOneOf(mode, LIFECYCLE_MODES, 'spec.volumeLifecycleModes'),
    ),
    ...required('seLinuxMount'),
    ...(period !== undefined && period < SHORTEST_PERIOD
      ? [
          fieldInvalid(
            'spec.nodeAllocatableUpdatePeriodSeconds',
            period,
            `must be greater than or equal to ${SHORTEST_PERIOD} seconds`,
          ),
        ]
      : []),
  ]
}

/** One token for each audience, with some life in it. */
function checkTokenRequests(spec: ValueObject): FieldError[] {
  const audiences = new Set<string>()
  return objectsAt(spec, 'tokenRequests').flatMap((request, i) => {
    const path = indexPath('spec.tokenRequests', i)
    const audience = stringAt(request, 'audience')
    if (audiences.has(audience)) return [fieldDuplicate(`${path}.audience`, audience)]
    audiences.add(audience)
    const seconds = numberOrNone(request, 'expirationSeconds')
    const told = (why: string): FieldError[] => [fieldInvalid(`${path}.expirationSeconds`, seconds, why)]
    if (seconds === undefined) return []
    if (seconds < 600) return told('may not specify a duration less than 10 minutes')
    return seconds > 2 ** 32 ? told('may not specify a duration larger than 2^32 seconds') : []
  })
}

// ---- nodes

const NODE_ID_MAX = 256

const checkNode = (node: ValueObject): FieldError[] => {
  const names = new Set<string>()
  return [
    ...checkMeta(node, { namespaced: false }),
    ...objectsAt(objectAt(node, 'spec'), 'drivers').flatMap((driver, i) =>
      checkNodeDriver(driver, names, indexPath('spec.drivers', i)),
    ),
  ]
}

function checkNodeDriver(driver: ValueObject, names: Set<string>, path: string): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const [name, id] = [stringAt(driver, 'name'), stringAt(driver, 'nodeID')]
  const errors = checkDriverName(name, at('name'))
  if (id === '') errors.push(fieldRequired(at('nodeID')))
  else if (id.length > NODE_ID_MAX) {
    errors.push(fieldInvalid(at('nodeID'), id, `must be ${NODE_ID_MAX} characters or less`))
  }
  errors.push(...checkNotNegative(numberAt(objectAt(driver, 'allocatable'), 'count'), at('allocatable.count')))
  if (names.has(name)) errors.push(fieldDuplicate(at('name'), name))
  names.add(name)
  const keys = stringsAt(driver, 'topologyKeys')
  keys.forEach((key, i) => {
    if (keys.indexOf(key) < i) errors.push(fieldDuplicate(at('topologyKeys'), key))
    errors.push(...checkText(key, checkQualifiedName, at('topologyKeys')))
  })
  return errors
}

/** A driver that is known on a node stays as it is, apart from how much it can take. */
function checkNodeChange(node: ValueObject, old: ValueObject): FieldError[] {
  const before = objectsAt(objectAt(old, 'spec'), 'drivers')
  return objectsAt(objectAt(node, 'spec'), 'drivers').flatMap(driver => {
    const known = before.find(each => stringAt(each, 'name') === stringAt(driver, 'name'))
    if (known === undefined || equalValues({ ...known, allocatable: null }, { ...driver, allocatable: null })) return []
    return [fieldInvalid('spec.drivers', asGoStruct('storage/v1.CSINodeDriver', driver), 'field is immutable')]
  })
}

export const csiNodeValidation: Validation = {
  create: checkNode,
  update: (node, old) => [...checkMetaUpdate(node, old), ...checkNode(node), ...checkNodeChange(node, old)],
}

// ---- room

const checkCapacity = (capacity: ValueObject): FieldError[] => {
  const topology = objectOrNone(capacity, 'nodeTopology')
  return [
    ...checkMeta(capacity, { namespaced: true }),
    ...(topology === undefined ? [] : checkLabelSelector(topology, 'nodeTopology')),
    ...checkText(stringAt(capacity, 'storageClassName'), checkDnsSubdomain, 'storageClassName'),
    ...['capacity', 'maximumVolumeSize'].flatMap(field => checkNotNegativeAmount(capacity, field, field)),
  ]
}

export const csiStorageCapacityValidation: Validation = {
  create: checkCapacity,
  update: (capacity, old) => [
    ...checkCapacity(capacity),
    ...checkMetaUpdate(capacity, old),
    ...checkImmutable(capacity, old, 'nodeTopology'),
    ...checkImmutable(capacity, old, 'storageClassName'),
  ],
}

// ---- attachments

const EITHER_SOURCE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
const ERROR_MESSAGE_MAX = 1024
const METADATA_MAX = 256 * 1024

const checkAttachment = (attachment: ValueObject): FieldError[] => {
  const spec = objectAt(attachment, 'spec')
  return [
    ...checkMeta(attachment, { namespaced: false }),
    ...checkDriverName(stringAt(spec, 'attacher'), 'spec.attacher'),
    ...checkAttached(objectAt(spec, 'source')),
    ...checkText(stringAt(spec, 'nodeName'), checkDnsSubdomain, 'spec.nodeName'),
    ...checkAttachmentStatus(objectAt(attachment, 'status')),
  ]
}

function checkAttached(source: ValueObject): FieldError[] {
  const isNamed = has(source, 'persistentVolumeName')
  const isInline = has(source, 'inlineVolumeSpec')
  if (!isNamed && !isInline) return [fieldRequired('spec.source', EITHER_SOURCE)]
  if (isNamed && isInline) return [fieldForbidden('spec.source', EITHER_SOURCE)]
  if (!isNamed) return []
  const name = stringAt(source, 'persistentVolumeName')
  const path = 'spec.source.persistentVolumeName'
  return name === ''
    ? [fieldRequired(path, 'must specify non empty persistentVolumeName')]
    : checkText(name, checkDnsSubdomain, path)
}

function checkAttachmentStatus(status: ValueObject): FieldError[] {
  const metadata = objectAt(status, 'attachmentMetadata')
  const size = Object.keys(metadata).reduce((sum, key) => sum + key.length + stringAt(metadata, key).length, 0)
  return [
    ...(size > METADATA_MAX ? [fieldTooLong('status.attachmentMetadata', METADATA_MAX)] : []),
    ...['attachError', 'detachError'].flatMap(field =>
      stringAt(objectAt(status, field), 'message').length > ERROR_MESSAGE_MAX
        ? [fieldTooLong(`status.${field}.message`, ERROR_MESSAGE_MAX)]
        : [],
    ),
  ]
}

export const volumeAttachmentValidation: Validation = {
  create: checkAttachment,
  update: (attachment, old) => {
    const [spec, before] = [objectAt(attachment, 'spec'), objectAt(old, 'spec')]
    const shown = asGoStruct('storage/v1.VolumeAttachmentSpec', spec)
    return [
      ...checkAttachment(attachment),
      ...checkMetaUpdate(attachment, old),
      ...(equalValues(spec, before) ? [] : [fieldInvalid('spec', shown, 'field is immutable')]),
    ]
  },
}
