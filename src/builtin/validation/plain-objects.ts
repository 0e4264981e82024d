// Namespaces, config maps, secrets, service accounts and leases: what they may hold.

import { decodeJson } from '../../codec/json.js'
import {
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooLong,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { checkConfigKey, checkDnsLabel, checkQualifiedName } from '../../meta/object/names.js'
import { has, mapAt, numberAt, objectAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { equalValues, getOwn, isObject, type ValueObject } from '../../meta/values/value.js'
import { checkImmutable, checkNotNegative, checkText } from '../common/field-checks.js'
import { checkFinalizerDomain, checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

// ---- namespaces

const checkNamespace = (namespace: ValueObject): FieldError[] => [
  ...checkMeta(namespace, { namespaced: false, name: checkDnsLabel }),
  ...checkPodSecurityLabels(namespace),
  ...checkSpecFinalizers(namespace),
]

/** Faults are told of the list as a whole. */
const checkSpecFinalizers = (namespace: ValueObject): FieldError[] =>
  stringsAt(objectAt(namespace, 'spec'), 'finalizers').flatMap(finalizer =>
    [
      checkText(finalizer, checkQualifiedName, 'spec.finalizers'),
      checkFinalizerDomain(finalizer, 'spec.finalizers'),
    ].flat(),
  )

/** The levels that labels of a namespace may ask for. */
function checkPodSecurityLabels(namespace: ValueObject): FieldError[] {
  const labels = mapAt(objectAt(namespace, 'metadata'), 'labels')
  return ['enforce', 'audit', 'warn'].flatMap(mode => {
    const key = `pod-security.kubernetes.io/${mode}`
    const level = Object.hasOwn(labels, key) ? labels[key]! : undefined
    if (level === undefined || ['privileged', 'baseline', 'restricted'].includes(level)) return []
    return [fieldInvalid(keyPath('metadata.labels', key), level, 'must be one of privileged, baseline, restricted')]
  })
}

function checkNamespacePhase(namespace: ValueObject): FieldError[] {
  const deleted = has(objectAt(namespace, 'metadata'), 'deletionTimestamp')
  const phase = stringAt(objectAt(namespace, 'status'), 'phase')
  if (deleted && phase !== 'Terminating') {
    return [fieldInvalid('status.Phase', phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")]
  }
  if (!deleted && phase !== 'Active') {
    return [fieldInvalid('status.Phase', phase, "may only be 'Active' if `deletionTimestamp` is empty")]
  }
  return []
}

export const namespaceValidation: Validation = {
  create: checkNamespace,
  update: (namespace, old) => [...checkNamespace(namespace), ...checkMetaUpdate(namespace, old)],
  status: (namespace, old) => [...checkMetaUpdate(namespace, old), ...checkNamespacePhase(namespace)],
  parts: { finalize: (namespace, old) => [...checkMetaUpdate(namespace, old), ...checkSpecFinalizers(namespace)] },
}

// ---- config maps and secrets

/** All values together. */
const DATA_MAX = 1024 * 1024

function checkConfigMap(map: ValueObject): FieldError[] {
  const data = objectAt(map, 'data')
  const binary = objectAt(map, 'binaryData')
  const errors = checkMeta(map, { namespaced: true })
  let size = 0
  for (const key of Object.keys(data)) {
    errors.push(...checkText(key, checkConfigKey, keyPath('data', key)))
    if (Object.hasOwn(binary, key)) {
      errors.push(fieldInvalid(keyPath('data', key), key, 'duplicate of key present in binaryData'))
    }
    size += Buffer.byteLength(stringAt(data, key))
  }
  for (const key of Object.keys(binary)) {
    errors.push(...checkText(key, checkConfigKey, keyPath('binaryData', key)))
    size += base64Size(stringAt(binary, key))
  }
  // The size is nobody's field: its path prints as empty brackets.
  if (size > DATA_MAX) errors.push(fieldTooLong('[]', DATA_MAX))
  return errors
}

const base64Size = (text: string): number => Math.floor((text.replace(/=+$/, '').length * 3) / 4)

/** What stays once an object was declared immutable. */
function checkKept(object: ValueObject, old: ValueObject, fields: readonly string[]): FieldError[] {
  if (getOwn(old, 'immutable') !== true) return []
  const told = (field: string): FieldError => fieldForbidden(field, 'field is immutable when `immutable` is set')
  return [
    ...(getOwn(object, 'immutable') === true ? [] : [told('immutable')]),
    ...fields.filter(field => !equalValues(objectAt(object, field), objectAt(old, field))).map(told),
  ]
}

export const configMapValidation: Validation = {
  create: checkConfigMap,
  update: (map, old) => [
    ...checkMetaUpdate(map, old),
    ...checkKept(map, old, ['data', 'binaryData']),
    ...checkConfigMap(map),
  ],
}

function checkSecret(secret: ValueObject): FieldError[] {
  const data = objectAt(secret, 'data')
  const errors = checkMeta(secret, { namespaced: true })
  let size = 0
  for (const key of Object.keys(data)) {
    errors.push(...checkText(key, checkConfigKey, keyPath('data', key)))
    size += base64Size(stringAt(data, key))
  }
  if (size > DATA_MAX) errors.push(fieldTooLong('data', DATA_MAX))
  return [...errors, ...checkSecretType(secret, data)]
}

/** What the types that Kubernetes knows require. */
function checkSecretType(secret: ValueObject, data: ValueObject): FieldError[] {
  const required = (...keys: readonly string[]): FieldError[] =>
    keys.filter(key => !Object.hasOwn(data, key)).map(key => fieldRequired(keyPath('data', key)))
  switch (stringAt(secret, 'type')) {
    case 'kubernetes.io/service-account-token': {
      const annotation = 'kubernetes.io/service-account.name'
      const account = stringAt(objectAt(objectAt(secret, 'metadata'), 'annotations'), annotation)
      return account === '' ? [fieldRequired(keyPath('metadata.annotations', annotation))] : []
    }
    case 'kubernetes.io/dockercfg':
      return checkJsonKey(data, '.dockercfg')
    case 'kubernetes.io/dockerconfigjson':
      return checkJsonKey(data, '.dockerconfigjson')
    case 'kubernetes.io/basic-auth':
      // One of the two is enough.
      return Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password') ? [] : required('username', 'password')
    case 'kubernetes.io/ssh-auth':
      return stringAt(data, 'ssh-privatekey') === '' ? [fieldRequired(keyPath('data', 'ssh-privatekey'))] : []
    case 'kubernetes.io/tls':
      return required('tls.crt', 'tls.key')
    default:
      return []
  }
}

function checkJsonKey(data: ValueObject, key: string): FieldError[] {
  if (!Object.hasOwn(data, key)) return [fieldRequired(keyPath('data', key))]
  const hidden = '<secret contents redacted>'
  try {
    const { value } = decodeJson(Buffer.from(stringAt(data, key), 'base64'))
    if (value === null || isObject(value)) return []
    const what = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    const why = `json: cannot unmarshal ${what} into Go value of type map[string]interface {}`
    return [fieldInvalid(keyPath('data', key), hidden, why)]
  } catch (error) {
    return [fieldInvalid(keyPath('data', key), hidden, error instanceof Error ? error.message : String(error))]
  }
}

export const secretValidation: Validation = {
  create: checkSecret,
  update: (secret, old) => [
    ...checkMetaUpdate(secret, old),
    ...checkImmutable(secret, old, 'type'),
    ...checkKept(secret, old, ['data']),
    ...checkSecret(secret),
  ],
}

// ---- service accounts and leases

const checkServiceAccount = (account: ValueObject): FieldError[] => checkMeta(account, { namespaced: true })

export const serviceAccountValidation: Validation = {
  create: checkServiceAccount,
  update: (account, old) => [...checkMetaUpdate(account, old), ...checkServiceAccount(account)],
}

function checkLeaseSpec(lease: ValueObject): FieldError[] {
  const spec = objectAt(lease, 'spec')
  const errors: FieldError[] = []
  if (has(spec, 'leaseDurationSeconds') && numberAt(spec, 'leaseDurationSeconds') <= 0) {
    errors.push(
      fieldInvalid('spec.leaseDurationSeconds', numberAt(spec, 'leaseDurationSeconds'), 'must be greater than 0'),
    )
  }
  return [...errors, ...checkNotNegative(numberAt(spec, 'leaseTransitions'), 'spec.leaseTransitions')]
}

export const leaseValidation: Validation = {
  create: lease => [...checkMeta(lease, { namespaced: true, knownFinalizers: false }), ...checkLeaseSpec(lease)],
  update: (lease, old) => [...checkMetaUpdate(lease, old), ...checkLeaseSpec(lease)],
}
