// The status of a PodCertificateRequest: it is written once, either with a condition alone, or with the certificates, which
// must fit the request.

import { type KeyObject, X509Certificate } from 'node:crypto'
import { type PemBlock, pemBlocks } from '../../base/pem.js'
import {
  asString,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { has, objectsAt, stringAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { checkConditions, isConditionTrue } from '../common/conditions.js'

export interface IssueLimits {
  /** The key that the certificate must be issued to. */
  readonly key: () => KeyObject | undefined
  /** The field that has the key. */
  readonly keyPath: string
  readonly maxSeconds: number
  /** In milliseconds. */
  readonly now: number
}

const FINAL = ['Issued', 'Denied', 'Failed']
const IMMUTABLE = 'immutable after PodCertificateRequest is issued, denied, or failed'
const CONDITIONS_ONLY = 'non-condition status fields must be empty when denying or failing the PodCertificateRequest'
const NO_DECISION = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"'

export function checkCertificateStatus(status: ValueObject, old: ValueObject, limits: IssueLimits): FieldError[] {
  const conditions = objectsAt(status, 'conditions')
  const errors = [...checkKnownConditions(conditions), ...checkConditions(conditions, 'status.conditions')]
  if (errors.length > 0) return errors
  const equal = (a: ValueObject, b: ValueObject, why: string): FieldError[] =>
    equalValues(a, b) ? [] : [fieldInvalid('status', undefined, why)]
  const is = (object: ValueObject, type: string): boolean => isConditionTrue(objectsAt(object, 'conditions'), type)
  if (FINAL.some(type => is(old, type))) return equal(status, old, IMMUTABLE)
  if (is(status, 'Denied') || is(status, 'Failed')) {
    return equal(status, { conditions: status['conditions']! }, CONDITIONS_ONLY)
  }
  return is(status, 'Issued') ? checkIssued(status, limits) : equal(status, old, NO_DECISION)
}

/** The path has a dot before the index, as kube-apiserver has it here. */
function checkKnownConditions(conditions: readonly ValueObject[]): FieldError[] {
  let known = 0
  return conditions.flatMap((condition, i) => {
    const at = `status.conditions.${indexPath('', i)}`
    const [type, state] = [stringAt(condition, 'type'), stringAt(condition, 'status')]
    if (!FINAL.includes(type)) return [fieldNotSupported(`${at}.type`, asString(type), FINAL)]
    known++
    const why = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
    return [
      ...(known > 1 ? [fieldInvalid(`${at}.type`, type, why)] : []),
      ...(state === 'True' ? [] : [fieldNotSupported(`${at}.status`, state, ['True'])]),
    ]
  })
}

// ---- issued certificates

const CHAIN = 'status.certificateChain'
const MAX_BYTES = 100 * 1024
const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** The first thing that does not fit is reported. */
function checkIssued(status: ValueObject, limits: IssueLimits): FieldError[] {
  const chain = stringAt(status, 'certificateChain')
  if (Buffer.byteLength(chain) > MAX_BYTES) return [fieldTooLong(CHAIN, MAX_BYTES)]
  const invalid = (why: string): FieldError[] => [fieldInvalid(CHAIN, chain, why)]
  const [first, ...others] = pemBlocks(chain)
  if (first === undefined) return invalid('issued certificate chain must contain at least one certificate')
  if (first.label !== 'CERTIFICATE') {
    return invalid('issued certificate chain must consist entirely of CERTIFICATE PEM blocks')
  }
  const leaf = readCertificate(first)
  if (leaf === undefined) return invalid('leaf certificate does not parse as valid X.509')
  const errors = checkSubjectNames(leaf)
  const wanted = limits.key()
  if (wanted === undefined) {
    const kind = limits.keyPath.endsWith('Request') ? 'PKCS#10 CSR' : 'PKIX-serialized public key'
    return [...errors, fieldInvalid(limits.keyPath, undefined, `must be a valid ${kind}`)]
  }
  if (!leaf.publicKey.equals(wanted)) {
    return [...errors, ...invalid('leaf certificate was not issued to the requested public key')]
  }
  errors.push(...checkTimesSet(status))
  if (errors.length > 0) return errors
  const untimely = checkTimes(status, leaf, limits)
  return untimely.length > 0 ? untimely : checkOthers(others, invalid)
}

const readCertificate = ({ content }: PemBlock): X509Certificate | undefined => {
  try {
    return new X509Certificate(content)
  } catch {
    return undefined
  }
}

function checkSubjectNames({ subjectAltName = '' }: X509Certificate): FieldError[] {
  const errors: FieldError[] = []
  const report = (name: string, why: string): number => errors.push(fieldInvalid(CHAIN, name, why))
  for (const entry of subjectAltName.split(', ')) {
    const [, kind, name = ''] = /^(DNS|email):(.*)$/s.exec(entry) ?? []
    if (kind === 'email' && !/^[^\s@]+@[^\s@]+$/.test(name)) {
      report(name, 'leaf certificate should not contain invalid EmailAddress')
    }
    if (kind !== 'DNS') continue
    if (name === '') report(name, 'leaf certificate should not contain empty DNSName')
    if (name.includes('..')) report(name, "leaf certificate's DNSName should not contain '..'")
    if (/^\.|\.$/.test(name)) report(name, "leaf certificate's DNSName should not start or end with '.'")
  }
  return errors
}

const CONSISTENT = 'must be present and consistent with the issued certificate'

const checkTimesSet = (status: ValueObject): FieldError[] =>
  Object.entries({
    notBefore: CONSISTENT,
    notAfter: CONSISTENT,
    beginRefreshAt: 'must be present and in the range [notbefore+10min, notafter-10min]',
  }).flatMap(([name, why]) => (has(status, name) ? [] : [fieldRequired(`status.${name}`, why)]))

function checkTimes(status: ValueObject, leaf: X509Certificate, { maxSeconds, now }: IssueLimits): FieldError[] {
  const timeOf = (name: string): number => Date.parse(stringAt(status, name))
  const invalid = (name: string, why: string): FieldError[] => [
    fieldInvalid(`status.${name}`, stringAt(status, name), why),
  ]
  const [from, to] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)]
  const isIn = (name: string): string => `must be set to the ${name} time encoded in the leaf certificate`
  if (timeOf('notBefore') !== from) return invalid('notBefore', isIn('NotBefore'))
  if (Math.abs(from - now) >= 5 * MINUTE) {
    return invalid('notBefore', "must be set to within 5 minutes of kube-apiserver's current time")
  }
  if (timeOf('notAfter') !== to) return invalid('notAfter', isIn('NotAfter'))
  // Durations are shown in nanoseconds.
  const lifetime = (why: string): FieldError[] => [fieldInvalid(CHAIN, (to - from) * 1e6, why)]
  if (to - from < HOUR) return lifetime('leaf certificate lifetime must be >= 1 hour')
  if (to - from > maxSeconds * 1000) {
    return lifetime(`leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxSeconds})`)
  }
  const refresh = timeOf('beginRefreshAt')
  if (refresh < from + 10 * MINUTE)
    return invalid('beginRefreshAt', 'must be at least 10 minutes after status.notBefore')
  return refresh > to - 10 * MINUTE
    ? invalid('beginRefreshAt', 'must be at least 10 minutes before status.notAfter')
    : []
}

/** Only that they are certificates is checked, not that each signed the one before it. */
function checkOthers(others: readonly PemBlock[], invalid: (why: string) => FieldError[]): FieldError[] {
  for (const block of others) {
    // The word is misspelt as in kube-apiserver.
    if (block.label !== 'CERTIFICATE') {
      return invalid('issued certificate chain must consist entirely of CERTFICATE PEM blocks')
    }
    if (readCertificate(block) === undefined) return invalid('intermediate certificate does not parse as valid X.509')
  }
  return []
}
