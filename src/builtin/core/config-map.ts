// ConfigMap.
import { type FieldError, fieldInvalid, fieldTooLong, keyPath } from '../../meta/errors/field-errors.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { binarySize, checkKey, immutableData, MAX_DATA_SIZE, sizeOf } from './data-rules.js'

function checkData(map: ValueObject): FieldError[] {
  const data = objectAt(map, 'data')
  const binary = objectAt(map, 'binaryData')
  const errors: FieldError[] = []
  let size = binarySize(binary)
  for (const key of Object.keys(data)) {
    errors.push(...checkKey('data', key))
    if (Object.hasOwn(binary, key)) {
      errors.push(fieldInvalid(keyPath('data', key), key, 'duplicate of key present in binaryData'))
    }
    size += Buffer.byteLength(stringAt(data, key))
  }
  for (const key of Object.keys(binary)) errors.push(...checkKey('binaryData', key))
  // The limit is for both fields together, so that the path is empty: kube-apiserver prints it as brackets.
  if (size > MAX_DATA_SIZE) errors.push(fieldTooLong('[]', MAX_DATA_SIZE))
  return errors
}

const rules = [metadata({ namespaced: true }), check(checkData)]

export const configMap = defineKind('v1', 'ConfigMap', {
  strategy: { prepareForUpdate: keepGeneration },
  validation: validationRules({
    create: rules,
    update: [metadataUpdate, immutableData('data', 'binaryData'), ...rules],
  }),
  table: (map, now) => [nameOf(map), sizeOf(map, 'data') + sizeOf(map, 'binaryData'), ageOf(map, now)],
})
