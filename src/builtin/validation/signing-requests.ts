// CertificateSigningRequests: what is asked of whom, who consented, and the certificate that came of it.
import { X509Certificate } from 'node:crypto'
import {
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'
import { checkDnsLabel, checkDnsSubdomain, checkPathSegment } from '../../meta/object/names.js'
import { numberOrNone, objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkOneOf } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type CheckUpdate, type Validation } from '../common/validation.js'
import { parseSigningRequest, pemBlocks } from './signing-request.js'

const check = (request: ValueObject): FieldError[] => [
  // Anything that can stand in a path will do as a name.
  ...checkMeta(request, { namespaced: false, name: name => checkPathSegment(name) }),
  ...checkSpec(objectAt(request, 'spec')),
  ...checkConditions(request),
  ...checkCertificate(stringAt(objectAt(request, 'status'), 'certificate')),
]

const checkChange =
  ({ mayConsent = false, maySign = false }): CheckUpdate =>
  (request, old) => [
    ...check(request),
    ...checkMetaUpdate(request, old),
    ...checkKept(request, old, mayConsent),
    ...checkCertificateChange(request, old, maySign),
  ]

export const signingRequestValidation: Validation = {
  create: check,
  update: checkChange({}),
  status: checkChange({ maySign: true }),
  parts: { approval: checkChange({ mayConsent: true }) },
}

// ---- what is asked

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
    ...(parsed.ok ? [] : [fieldInvalid('spec.request', request === '' ? null : request, parsed.error)]),
    ...(usages.length === 0 ? [fieldRequired('spec.usages')] : []),
    ...usages.flatMap((usage, i) =>
      USAGES.includes(usage) ? [] : [fieldNotSupported(indexPath('spec.usages', i), usage, USAGES)],
    ),
    ...usages.flatMap((usage, i) =>
      usages.indexOf(usage) < i ? [fieldDuplicate(indexPath('spec.usages', i), usage)] : [],
    ),
    ...checkSignerName(stringAt(spec, 'signerName')),
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

const DOMAIN_MAX = 253
const SIGNER_PATH_MAX = 253 + 63 + 1

/** `example.com/name`: whose signer it is, and which. */
function checkSignerName(name: string): FieldError[] {
  const path = 'spec.signerName'
  if (name === '') return [fieldRequired(path)]
  if (name === 'kubernetes.io/legacy-unknown') {
    return [fieldInvalid(path, name, 'the legacy signerName is not allowed via this API version')]
  }
  const [domain = '', rest, ...more] = name.split('/')
  if (rest === undefined || more.length > 0) {
    const why = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    return [fieldInvalid(path, name, why)]
  }
  const labels = domain.split('.')
  const errors = (text: string, rule: (label: string) => string[]): FieldError[] =>
    text
      .split('.')
      .flatMap(label => rule(label).map(why => fieldInvalid(path, text, `validating label ${quote(label)}: ${why}`)))
  return [
    ...(domain.length > DOMAIN_MAX ? [fieldTooLong(path, DOMAIN_MAX)] : []),
    ...errors(domain, checkDnsLabel),
    ...(labels.length < 2
      ? [fieldInvalid(path, domain, 'should be a domain with at least two segments separated by dots')]
      : []),
    ...errors(rest, checkDnsSubdomain),
    ...(rest.length > SIGNER_PATH_MAX ? [fieldTooLong(path, SIGNER_PATH_MAX)] : []),
  ]
}

// ---- who consented

const conditionsOf = (request: ValueObject): readonly ValueObject[] =>
  objectsAt(objectAt(request, 'status'), 'conditions')

const DECISIONS = ['Approved', 'Denied']
const ONLY_EVER_TRUE = [...DECISIONS, 'Failed']

function checkConditions(request: ValueObject): FieldError[] {
  const seen = new Set<string>()
  return conditionsOf(request).flatMap((condition, i) => {
    const path = indexPath('status.conditions', i)
    const type = stringAt(condition, 'type')
    const statuses = ONLY_EVER_TRUE.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
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

/** What was decided stays so, and is decided in one place only. */
function checkKept(request: ValueObject, old: ValueObject, mayConsent: boolean): FieldError[] {
  const count = (object: ValueObject, type: string): number =>
    conditionsOf(object).filter(condition => stringAt(condition, 'type') === type).length
  const told = (what: string, type: string): FieldError =>
    fieldForbidden('status.conditions', `updates may not ${what} a condition of type ${quote(type)}`)
  return [
    ...ONLY_EVER_TRUE.filter(type => count(request, type) < count(old, type)).map(type => told('remove', type)),
    ...(mayConsent
      ? []
      : DECISIONS.filter(type => count(request, type) > count(old, type)).map(type => told('add', type))),
  ]
}

// ---- the certificate

function checkCertificate(certificate: string): FieldError[] {
  const error = certificate === '' ? undefined : certificateError(Buffer.from(certificate, 'base64').toString('latin1'))
  return error === undefined ? [] : [fieldInvalid('status.certificate', '<certificate data>', error)]
}

function certificateError(pem: string): string | undefined {
  const blocks = pemBlocks(pem)
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block'
  for (const { type, hasHeaders, content } of blocks) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${quote(type)}`
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
