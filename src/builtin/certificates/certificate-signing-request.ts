// CertificateSigningRequest: a request to a signer, its approval or denial, and the certificate that was issued.

import { X509Certificate } from 'node:crypto'
import { pemBlocks } from '../../base/pem.js'
import {
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'
import { checkPathSegment } from '../../meta/object/names.js'
import {
  ensureObject,
  has,
  keepFrom,
  numberOrNone,
  objectAt,
  objectsAt,
  stringAt,
  stringsAt,
} from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { firstByKey, repeatsOf } from '../../meta/values/list-keys.js'
import { humanDuration } from '../../meta/values/time.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { TypeTable } from '../../types/type-table.js'
import { defineKind } from '../common/define-kind.js'
import { checkOneOf } from '../common/field-checks.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, type Rule } from '../common/rules.js'
import { selectableFields, stringField } from '../common/selectable-fields.js'
import {
  type BuiltinStrategy,
  clearStatus,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  type PrepareForUpdate,
} from '../common/strategies.js'
import { ageOf, NONE, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { parseSigningRequest } from './csr-parser.js'
import { checkSignerName } from './signer-name.js'

// ---- validation: the spec

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]

const SHORTEST_SECONDS = 600

function checkSpec(spec: ValueObject): FieldError[] {
  const request = stringAt(spec, 'request')
  const parsed = parseSigningRequest(request)
  const usages = stringsAt(spec, 'usages')
  const seconds = numberOrNone(spec, 'expirationSeconds')
  return [
    ...(parsed.ok ? [] : [fieldInvalid('spec.request', asGiven(spec, 'request'), parsed.error)]),
    ...(usages.length === 0 ? [fieldRequired('spec.usages')] : []),
    ...usages.flatMap((usage, i) =>
      USAGES.includes(usage) ? [] : [fieldNotSupported(indexPath('spec.usages', i), usage, USAGES)],
    ),
    ...[...repeatsOf(usages)].map(i => fieldDuplicate(indexPath('spec.usages', i), usages[i])),
    ...checkSigner(stringAt(spec, 'signerName')),
    ...(seconds !== undefined && seconds < SHORTEST_SECONDS
      ? [
          fieldInvalid(
            'spec.expirationSeconds',
            seconds,
            `may not specify a duration less than ${SHORTEST_SECONDS} seconds (10 minutes)`,
          ),
        ]
      : []),
  ]
}

function checkSigner(name: string): FieldError[] {
  const path = 'spec.signerName'
  return name === 'kubernetes.io/legacy-unknown'
    ? [fieldInvalid(path, name, 'the legacy signerName is not allowed via this API version')]
    : checkSignerName(name, path)
}

// ---- validation: conditions

const conditionsOf = (request: ValueObject): readonly ValueObject[] =>
  objectsAt(objectAt(request, 'status'), 'conditions')

const DECISIONS = ['Approved', 'Denied']
const ALWAYS_TRUE = [...DECISIONS, 'Failed']

function checkConditions(request: ValueObject): FieldError[] {
  const seen = new Set<string>()
  return conditionsOf(request).flatMap((condition, i) => {
    const path = indexPath('status.conditions', i)
    const type = stringAt(condition, 'type')
    const statuses = ALWAYS_TRUE.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
    const other = DECISIONS.find(decision => decision !== type)!
    const errors = checkOneOf(stringAt(condition, 'status'), statuses, `${path}.status`, { required: true })
    if (type === '') errors.push(fieldRequired(`${path}.type`))
    if (seen.has(type)) errors.push(fieldDuplicate(`${path}.type`, type))
    if (DECISIONS.includes(type) && seen.has(other)) {
      errors.push(fieldInvalid(`${path}.type`, type, 'Approved and Denied conditions are mutually exclusive'))
    }
    seen.add(type)
    return errors
  })
}

/** A decision cannot be taken back, and is added only through `/approval`. */
function checkDecisions(request: ValueObject, old: ValueObject, mayDecide: boolean): FieldError[] {
  const count = (object: ValueObject, type: string): number =>
    conditionsOf(object).filter(condition => stringAt(condition, 'type') === type).length
  const refused = (what: string, type: string): FieldError =>
    fieldForbidden('status.conditions', `updates may not ${what} a condition of type ${quote(type)}`)
  return [
    ...ALWAYS_TRUE.filter(type => count(request, type) < count(old, type)).map(type => refused('remove', type)),
    ...(mayDecide
      ? []
      : DECISIONS.filter(type => count(request, type) > count(old, type)).map(type => refused('add', type))),
  ]
}

// ---- validation: the certificate

function checkCertificate(certificate: string): FieldError[] {
  const error = certificate === '' ? undefined : certificateError(Buffer.from(certificate, 'base64').toString('latin1'))
  return error === undefined ? [] : [fieldInvalid('status.certificate', '<certificate data>', error)]
}

function certificateError(pem: string): string | undefined {
  const blocks = pemBlocks(pem)
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block'
  for (const { label, hasHeaders, content } of blocks) {
    if (label !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${quote(label)}`
    if (hasHeaders) return 'no PEM block headers are permitted'
    try {
      void new X509Certificate(content)
    } catch {
      return 'x509: malformed certificate'
    }
  }
  return undefined
}

function checkCertificateChange(request: ValueObject, old: ValueObject, maySign: boolean): FieldError[] {
  const [now, before] = [request, old].map(object => stringAt(objectAt(object, 'status'), 'certificate'))
  if (now === before) return []
  if (!maySign) return [fieldForbidden('status.certificate', 'updates may not set certificate content')]
  return before === ''
    ? []
    : [fieldForbidden('status.certificate', 'updates may not modify existing certificate content')]
}

// ---- strategy

/** A condition without a transition time keeps the one it had with the same status, or gets the present time. */
const timeConditions: PrepareForUpdate = (request, old, { now }) => {
  const idOf = (condition: ValueObject): string =>
    JSON.stringify([stringAt(condition, 'type'), stringAt(condition, 'status')])
  const known = firstByKey(conditionsOf(old), idOf)
  for (const condition of conditionsOf(request)) {
    if (!has(condition, 'lastUpdateTime')) condition['lastUpdateTime'] = now
    if (has(condition, 'lastTransitionTime')) continue
    const before = known.get(idOf(condition))
    condition['lastTransitionTime'] = stringAt(before ?? {}, 'lastTransitionTime') || now
  }
}

/** Decisions are written only through `/approval`. One that is added or removed here is refused by validation. */
const keepDecisions: PrepareForUpdate = (request, old) => {
  for (const type of ['Approved', 'Denied']) {
    const [now, before] = [request, old].map(object =>
      conditionsOf(object).filter(each => stringAt(each, 'type') === type),
    )
    if (now!.length !== before!.length) continue
    now!.forEach((condition, i) => Object.assign(condition, before![i]))
  }
}

/** A write through `/approval` changes the conditions only. */
const keepRestOfStatus: PrepareForUpdate = (request, old) => {
  const status = ensureObject(request, 'status')
  keepFrom(status, objectAt(old, 'status'), 'certificate')
}

const strategy = (table: TypeTable): BuiltinStrategy => ({
  prepareForCreate: clearStatus(table, 'certificates/v1.CertificateSigningRequestStatus'),
  prepareForUpdate: inTurn(keepGeneration, keepSpec, keepStatus),
  prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, keepDecisions, timeConditions),
  prepareForSubresourceUpdate: { approval: inTurn(keepGeneration, keepSpec, keepRestOfStatus, timeConditions) },
  subresourcesWithoutTable: ['approval'],
})

// ---- Table

const row: TableRow = (request, now) => {
  const spec = objectAt(request, 'spec')
  const seconds = numberOrNone(spec, 'expirationSeconds')
  return [
    nameOf(request),
    ageOf(request, now),
    stringAt(spec, 'signerName') || NONE,
    stringAt(spec, 'username'),
    seconds === undefined ? NONE : humanDuration(seconds * 1000),
    stateCell(objectAt(request, 'status')),
  ]
}

function stateCell(status: ValueObject): string {
  const types = new Set(objectsAt(status, 'conditions').map(condition => stringAt(condition, 'type')))
  const decision = ['Denied', 'Approved'].find(type => types.has(type)) ?? 'Pending'
  const further = [types.has('Failed') && 'Failed', has(status, 'certificate') && 'Issued']
  return [decision, ...further].filter(Boolean).join(',')
}

// ---- the kind

const rules: readonly Rule[] = [
  // Any path segment is allowed as a name.
  metadata({ namespaced: false, name: name => checkPathSegment(name) }),
  check(request => checkSpec(objectAt(request, 'spec'))),
  check(checkConditions),
  check(request => checkCertificate(stringAt(objectAt(request, 'status'), 'certificate'))),
]

const updateRules = ({ mayDecide = false, maySign = false }): readonly Rule[] => [
  ...rules,
  metadataUpdate,
  checkUpdate((request, old) => checkDecisions(request, old, mayDecide)),
  checkUpdate((request, old) => checkCertificateChange(request, old, maySign)),
]

export const certificateSigningRequest = defineKind('certificates.k8s.io/v1', 'CertificateSigningRequest', {
  strategy,
  validation: validationRules({
    create: rules,
    update: updateRules({}),
    status: updateRules({ maySign: true }),
    parts: { approval: updateRules({ mayDecide: true }) },
  }),
  table: row,
  selectableFields: selectableFields({ 'spec.signerName': stringField('spec', 'signerName') }, { namespaced: false }),
})
