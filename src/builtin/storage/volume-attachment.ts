// VolumeAttachment: a volume that a driver attaches to a node.
import { childPath, fieldForbidden, fieldInvalid, fieldRequired, fieldTooLong } from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain } from '../../meta/object/names.js'
import { has, numberAt, objectAt, stringAt } from '../../meta/values/access.js'
import { equalValues } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkDriverName } from '../common/driver-name.js'
import { checkText } from '../common/field-checks.js'
import { asGoStruct } from '../common/go-struct.js'
import { metadata } from '../common/metadata.js'
import { check, checkUpdate, field, optional, type Rule, when } from '../common/rules.js'
import { clearStatus, inTurn, keepGeneration, keepStatus, statusAlone } from '../common/strategies.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { inlineVolumeRules } from '../core/persistent-volume.js'

// ---- validation

const ONE_SOURCE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'

const oneSource = check((given, path) => {
  const isNamed = has(given, 'persistentVolumeName')
  const isInline = has(given, 'inlineVolumeSpec')
  if (!isNamed && !isInline) return [fieldRequired(path, ONE_SOURCE)]
  if (isNamed && isInline) return [fieldForbidden(path, ONE_SOURCE)]
  if (!isNamed) return []
  const name = stringAt(given, 'persistentVolumeName')
  const at = childPath(path, 'persistentVolumeName')
  return [
    ...(name === '' ? [fieldRequired(at, 'must specify non empty persistentVolumeName')] : []),
    ...checkText(name, checkDnsSubdomain, at),
  ]
})

const inline = when(given => !has(given, 'persistentVolumeName'), [optional('inlineVolumeSpec', inlineVolumeRules)])

const specRules: readonly Rule[] = [
  check((spec, path) => checkDriverName(stringAt(spec, 'attacher'), childPath(path, 'attacher'))),
  field('source', [oneSource, inline]),
  check((spec, path) => checkText(stringAt(spec, 'nodeName'), checkDnsSubdomain, childPath(path, 'nodeName'))),
]

const MAX_MESSAGE = 1024
const MAX_METADATA = 256 * 1024
const MAX_INT32 = 2 ** 31 - 1

const metadataSize = check((status, path) => {
  const given = objectAt(status, 'attachmentMetadata')
  const size = Object.keys(given).reduce(
    (sum, key) => sum + Buffer.byteLength(key) + Buffer.byteLength(stringAt(given, key)),
    0,
  )
  return size > MAX_METADATA ? [fieldTooLong(childPath(path, 'attachmentMetadata'), MAX_METADATA)] : []
})

const errorRules: readonly Rule[] = [
  check((error, path) =>
    // The message of kube-apiserver names the limit of the metadata here.
    Buffer.byteLength(stringAt(error, 'message')) > MAX_MESSAGE
      ? [fieldTooLong(childPath(path, 'message'), MAX_METADATA)]
      : [],
  ),
  check((error, path) => {
    const code = numberAt(error, 'errorCode')
    if (code >= 0) return []
    return [fieldInvalid(childPath(path, 'errorCode'), code, `must be between 0 and ${MAX_INT32}, inclusive`)]
  }),
]

const statusRules: readonly Rule[] = [
  metadataSize,
  optional('attachError', errorRules),
  optional('detachError', errorRules),
]

const rules: readonly Rule[] = [metadata({ namespaced: false }), field('spec', specRules), field('status', statusRules)]

const immutableSpec = checkUpdate((attachment, old) => {
  const spec = objectAt(attachment, 'spec')
  if (equalValues(spec, objectAt(old, 'spec'))) return []
  return [fieldInvalid('spec', asGoStruct('storage/v1.VolumeAttachmentSpec', spec), 'field is immutable')]
})

// ---- Table

const row: TableRow = (attachment, now) => {
  const spec = objectAt(attachment, 'spec')
  return [
    nameOf(attachment),
    stringAt(spec, 'attacher'),
    stringAt(objectAt(spec, 'source'), 'persistentVolumeName'),
    stringAt(spec, 'nodeName'),
    objectAt(attachment, 'status')['attached'] === true,
    ageOf(attachment, now),
  ]
}

export const volumeAttachment = defineKind('storage.k8s.io/v1', 'VolumeAttachment', {
  strategy: table => ({
    prepareForCreate: clearStatus(table, 'storage/v1.VolumeAttachmentStatus'),
    prepareForUpdate: inTurn(keepGeneration, keepStatus),
    prepareForStatusUpdate: statusAlone,
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
  }),
  statusReset: ['metadata'],
  validation: validationRules({ create: rules, update: [...rules, immutableSpec] }),
  table: row,
})
