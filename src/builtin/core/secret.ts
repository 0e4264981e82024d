// Secret.
import { decodeJson } from '../../codec/json.js'
import { type FieldError, fieldInvalid, fieldRequired, fieldTooLong, keyPath } from '../../meta/errors/field-errors.js'
import { objectAt, objectOrNone, setDefault, stringAt } from '../../meta/values/access.js'
import { isObject, setOwn, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, immutable } from '../common/rules.js'
import { selectableFields, stringField } from '../common/selectable-fields.js'
import { keepGeneration } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { binarySize, checkKey, immutableData, MAX_DATA_SIZE, sizeOf } from './data-rules.js'
import { keyPairError } from './tls-key-pair.js'

// ---- defaults

/** `stringData` is written only: its texts become data. */
function moveStringData(secret: ValueObject): void {
  const texts = objectOrNone(secret, 'stringData')
  if (texts === undefined) return
  const data = { ...objectAt(secret, 'data') }
  for (const key of Object.keys(texts)) setOwn(data, key, Buffer.from(stringAt(texts, key)).toString('base64'))
  secret['data'] = data
  delete secret['stringData']
}

// ---- validation

function checkData(secret: ValueObject): FieldError[] {
  const data = objectAt(secret, 'data')
  const errors = Object.keys(data).flatMap(key => checkKey('data', key))
  return binarySize(data) > MAX_DATA_SIZE ? [...errors, fieldTooLong('data', MAX_DATA_SIZE)] : errors
}

/** What the types that Kubernetes knows require. */
function checkType(secret: ValueObject): FieldError[] {
  const data = objectAt(secret, 'data')
  const requiredKeys = (...keys: readonly string[]): FieldError[] =>
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
    case 'kubernetes.io/basic-auth': {
      const hasOne = Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password')
      return hasOne ? [] : requiredKeys('username', 'password')
    }
    case 'kubernetes.io/ssh-auth':
      return stringAt(data, 'ssh-privatekey') === '' ? [fieldRequired(keyPath('data', 'ssh-privatekey'))] : []
    case 'kubernetes.io/tls':
      return requiredKeys('tls.crt', 'tls.key')
    default:
      return []
  }
}

function checkJsonKey(data: ValueObject, key: string): FieldError[] {
  if (!Object.hasOwn(data, key)) return [fieldRequired(keyPath('data', key))]
  const invalid = (why: string): FieldError[] => [fieldInvalid(keyPath('data', key), '<secret contents redacted>', why)]
  try {
    const { value } = decodeJson(Buffer.from(stringAt(data, key), 'base64'))
    if (value === null || isObject(value)) return []
    const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    return invalid(`json: cannot unmarshal ${type} into Go value of type map[string]interface {}`)
  } catch (error) {
    return invalid(error instanceof Error ? error.message : String(error))
  }
}

// ---- warnings

function warnings(secret: ValueObject): string[] {
  if (stringAt(secret, 'type') !== 'kubernetes.io/tls') return []
  const data = objectAt(secret, 'data')
  const bytes = (key: string): Buffer => Buffer.from(stringAt(data, key), 'base64')
  const error = keyPairError(bytes('tls.crt'), bytes('tls.key'))
  return error === undefined ? [] : [error]
}

const rules = [metadata({ namespaced: true }), check(checkData), check(checkType)]

export const secret = defineKind('v1', 'Secret', {
  defaults: object => {
    setDefault(object, 'type', 'Opaque')
    moveStringData(object)
  },
  strategy: { prepareForUpdate: keepGeneration },
  validation: validationRules({
    create: rules,
    update: [metadataUpdate, immutable('type', { typed: true }), immutableData('data'), ...rules],
  }),
  warnings,
  table: (object, now) => [nameOf(object), stringAt(object, 'type'), sizeOf(object, 'data'), ageOf(object, now)],
  selectableFields: selectableFields({ type: stringField('type') }),
})
