// PodCertificateRequest: a request of a kubelet for the certificate of one pod, and the certificate that a signer issued.
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { type FieldError, fieldInvalid, fieldRequired, fieldTooLong } from '../../meta/errors/field-errors.js'
import { ANNOTATIONS_MAX, annotationsSize, checkDnsSubdomain, checkQualifiedName } from '../../meta/object/names.js'
import { has, mapAt, numberAt, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { statusApart } from '../common/build-kind.js'
import { defineKind } from '../common/define-kind.js'
import { checkText } from '../common/field-checks.js'
import { asGoStruct } from '../common/go-struct.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, run } from '../common/rules.js'
import { selectableFields, stringField } from '../common/selectable-fields.js'
import { same, statusAlone } from '../common/strategies.js'
import { nameOf, printLabels } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { readSignedKey } from './csr-parser.js'
import { checkCertificateStatus } from './pod-certificate-status.js'
import { checkSignerName, isKubernetesSigner } from './signer-name.js'

const MAX_UID = 128
const MAX_BYTES = 10 * 1024
const HOUR = 60 * 60
const DAY = 24 * HOUR
/** The limits of `maxExpirationSeconds`. */
const LIFETIMES = { least: HOUR, mostOfKubernetes: DAY, most: 91 * DAY }

const bytesAt = (spec: ValueObject, name: string): Buffer => Buffer.from(stringAt(spec, name), 'base64')

function checkSpec(spec: ValueObject): FieldError[] {
  const signer = stringAt(spec, 'signerName')
  const names = (field: string): FieldError[] => checkText(stringAt(spec, field), checkDnsSubdomain, `spec.${field}`)
  const errors = [
    ...checkSignerName(signer, 'spec.signerName'),
    ...checkUserAnnotations(mapAt(spec, 'unverifiedUserAnnotations'), 'spec.unverifiedUserAnnotations'),
    ...names('podName'),
    ...checkUid(spec, 'podUID'),
    ...names('serviceAccountName'),
    ...checkUid(spec, 'serviceAccountUID'),
    ...names('nodeName'),
    ...checkUid(spec, 'nodeUID'),
  ]
  if (!has(spec, 'maxExpirationSeconds')) return [...errors, fieldRequired('spec.maxExpirationSeconds', 'must be set')]
  const seconds = numberAt(spec, 'maxExpirationSeconds')
  const most = isKubernetesSigner(signer) ? LIFETIMES.mostOfKubernetes : LIFETIMES.most
  if (seconds < LIFETIMES.least || seconds > most) {
    const why = `must be in the range [${LIFETIMES.least}, ${most}]`
    errors.push(fieldInvalid('spec.maxExpirationSeconds', seconds, why))
  }
  return [...errors, ...checkProof(spec)]
}

function checkUid(spec: ValueObject, field: string): FieldError[] {
  const uid = stringAt(spec, field)
  if (uid === '') return [fieldInvalid(`spec.${field}`, uid, 'must not be empty')]
  return Buffer.byteLength(uid) > MAX_UID ? [fieldTooLong(`spec.${field}`, MAX_UID)] : []
}

/** Annotations for the signer: each key names a domain. */
function checkUserAnnotations(annotations: Readonly<Record<string, string>>, path: string): FieldError[] {
  const errors = Object.keys(annotations).flatMap(each => checkDomainKey(each.toLowerCase(), path))
  return annotationsSize(annotations) > ANNOTATIONS_MAX ? [...errors, fieldTooLong(path, ANNOTATIONS_MAX)] : errors
}

function checkDomainKey(key: string, path: string): FieldError[] {
  if (key === '') return [fieldRequired(path)]
  const errors = checkText(key, checkQualifiedName, path)
  if (errors.length > 0 || key.includes('/')) return errors
  return [fieldInvalid(path, key, 'must be a domain-prefixed key (such as "acme.io/foo")')]
}

// ---- the key, and the proof that the kubelet has its private half

const ONE_OF_TWO = 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set'

function checkProof(spec: ValueObject): FieldError[] {
  const [request, key, proof] = ['stubPKCS10Request', 'pkixPublicKey', 'proofOfPossession'].map(name =>
    bytesAt(spec, name),
  )
  const given = [request!, key!, proof!].map(({ length }) => length > 0).join()
  if (given === 'true,false,false') return checkRequest(request!)
  if (given === 'false,true,true') return checkKey(spec, key!, proof!)
  return [fieldInvalid('spec', undefined, ONE_OF_TWO)]
}

function checkRequest(der: Buffer): FieldError[] {
  const path = 'spec.stubPKCS10Request'
  if (der.length > MAX_BYTES) return [fieldTooLong(path, MAX_BYTES)]
  const request = readSignedKey(der)
  if (request === undefined) return [fieldInvalid(path, undefined, 'must be a valid PKCS#10 CSR')]
  const errors = checkKind(request.key, path, undefined, 'P256, P384, or P521')
  if (errors.length > 0 || request.isSigned) return errors
  return [fieldInvalid(path, undefined, 'invalid signature')]
}

function checkKey(spec: ValueObject, der: Buffer, proof: Buffer): FieldError[] {
  const path = 'spec.pkixPublicKey'
  if (der.length > MAX_BYTES) return [fieldTooLong(path, MAX_BYTES)]
  const proofPath = 'spec.proofOfPossession'
  if (proof.length > MAX_BYTES) return [fieldTooLong(proofPath, MAX_BYTES)]
  const key = readPublicKey(der)
  const shown = stringAt(spec, 'pkixPublicKey')
  if (key === undefined) return [fieldInvalid(path, shown, 'must be a valid PKIX-serialized public key')]
  const errors = checkKind(key, path, shown, 'P256 or P384')
  if (errors.length > 0 || proves(key, stringAt(spec, 'podUID'), proof)) return errors
  return [fieldInvalid(proofPath, undefined, 'could not verify proof-of-possession signature')]
}

function readPublicKey(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch {
    return undefined
  }
}

/** The key signed the UID of the pod. */
function proves(key: KeyObject, uid: string, proof: Buffer): boolean {
  const text = Buffer.from(uid)
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return verify(null, text, key, proof)
    case 'rsa': {
      const saltLength = constants.RSA_PSS_SALTLEN_AUTO
      return verify('sha256', text, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }, proof)
    }
    default:
      return verify('sha256', text, key, proof)
  }
}

const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1'])
const OTHER_CURVES: Readonly<Record<string, string>> = { secp224r1: 'P-224' }
const RSA_BITS = new Set([3072, 4096])
const UNKNOWN = 'unknown public key type; supported types are Ed25519, ECDSA, and RSA'

/** `shown`: what the message about a key of another kind shows. `curves`: those that it names. */
function checkKind(key: KeyObject, path: string, shown: string | undefined, curves: string): FieldError[] {
  const { namedCurve = '', modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  switch (key.asymmetricKeyType) {
    case 'ed25519':
      return []
    case 'ec': {
      if (CURVES.has(namedCurve)) return []
      const curve = `curve ${OTHER_CURVES[namedCurve] ?? namedCurve}`
      return [fieldInvalid(path, curve, `elliptic public keys must use curve ${curves}`)]
    }
    case 'rsa':
      return RSA_BITS.has(modulusLength)
        ? []
        : [fieldInvalid(path, `${modulusLength}-bit modulus`, 'RSA keys must have modulus size 3072 or 4096')]
    default:
      return [fieldInvalid(path, shown, UNKNOWN)]
  }
}

/** The key to which the certificate must be issued. */
function requestedKey(spec: ValueObject): KeyObject | undefined {
  const request = bytesAt(spec, 'stubPKCS10Request')
  return request.length > 0 ? readSignedKey(request)?.key : readPublicKey(bytesAt(spec, 'pkixPublicKey'))
}

// ---- the kind

function stateCell(request: ValueObject): string {
  const conditions = objectsAt(objectAt(request, 'status'), 'conditions').map(each => stringAt(each, 'type'))
  return conditions.findLast(type => ['Issued', 'Denied', 'Failed'].includes(type)) ?? 'Pending'
}

const FIELDS = ['signerName', 'podName', 'nodeName']
const API_VERSION = 'certificates.k8s.io/v1beta1'
const KIND = 'PodCertificateRequest'

const RULES = validationRules({
  create: [metadata({ namespaced: true }), check(request => checkSpec(objectAt(request, 'spec')))],
  update: [
    metadataUpdate,
    checkUpdate((request, old) => {
      const shown = asGoStruct('certificates/v1beta1.PodCertificateRequestSpec', objectAt(request, 'spec'))
      return same(request, old, 'spec') ? [] : [fieldInvalid('spec', shown, 'field is immutable')]
    }),
  ],
})

export const podCertificateRequest = defineKind(API_VERSION, KIND, {
  strategy: statusApart(API_VERSION, KIND, { prepareForStatusUpdate: statusAlone, allowUnconditionalUpdate: false }),
  statusIsOwnedWithObject: true,
  validation: {
    ...RULES,
    statusAt: (request, old, now) => [
      ...run([metadataUpdate], request, old),
      ...checkCertificateStatus(objectAt(request, 'status'), objectAt(old, 'status'), {
        key: () => requestedKey(objectAt(old, 'spec')),
        keyPath: has(objectAt(old, 'spec'), 'stubPKCS10Request') ? 'spec.stubPKCS10Request' : 'spec.pkixPublicKey',
        maxSeconds: numberAt(objectAt(request, 'spec'), 'maxExpirationSeconds'),
        now,
      }),
    ],
  },
  selectableFields: selectableFields(
    Object.fromEntries(FIELDS.map(name => [`spec.${name}`, stringField('spec', name)])),
    {},
  ),
  table: request => {
    const spec = objectAt(request, 'spec')
    const cells = ['podName', 'serviceAccountName', 'nodeName', 'signerName'].map(name => stringAt(spec, name))
    return [nameOf(request), ...cells, stateCell(request), printLabels(mapAt(spec, 'unverifiedUserAnnotations'))]
  },
})
