// StorageClass: how volumes of the class are provisioned.

import { type FieldError, fieldDuplicate, fieldRequired, indexPath } from '../../meta/errors/field-errors.js'
import { checkQualifiedName } from '../../meta/object/names.js'
import { has, objectAt, objectsAt, setDefault, stringAt, stringsAt } from '../../meta/values/access.js'
import { repeatsOf } from '../../meta/values/list-keys.js'
import type { ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, immutable, optionalOneOf, type Rule } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { stringOrUnset } from '../core/volume-cells.js'
import { driverName, parameters } from './class-rules.js'

function defaults(storageClass: ValueObject): void {
  setDefault(storageClass, 'reclaimPolicy', 'Delete', false)
  setDefault(storageClass, 'volumeBindingMode', 'Immediate', false)
}

// ---- validation

const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer']

const bindingMode = check(storageClass =>
  has(storageClass, 'volumeBindingMode')
    ? checkOneOf(stringAt(storageClass, 'volumeBindingMode'), BINDING_MODES, 'volumeBindingMode')
    : [fieldRequired('volumeBindingMode')],
)

/** A volume may be where one of the terms matches; no two terms are the same. */
const allowedTopologies = check(storageClass => {
  const seen = new Map<string, number>()
  const terms = objectsAt(storageClass, 'allowedTopologies')
  return terms.flatMap((term, i) => {
    const path = `${indexPath('allowedTopologies', i)}.matchLabelExpressions`
    const expressions = objectsAt(term, 'matchLabelExpressions')
    const errors = checkTopologyLabels(expressions, path)
    // The order of labels and of their values does not matter.
    const parts = expressions.map(each => [stringAt(each, 'key'), ...stringsAt(each, 'values').toSorted()].join('\0'))
    const id = parts.toSorted().join('\0\0')
    // One error for each equal term before. An empty term also equals the empty ones that kube-apiserver begins with, as
    // many as there are terms.
    const before = seen.get(id) ?? 0
    const repeats = before + (expressions.length === 0 ? terms.length : 0)
    seen.set(id, before + 1)
    for (let n = 0; n < repeats; n++) errors.push(fieldDuplicate(path, ''))
    return errors
  })
})

function checkTopologyLabels(expressions: readonly ValueObject[], path: string): FieldError[] {
  const keys = new Set<string>()
  const errors: FieldError[] = []
  expressions.forEach((expression, i) => {
    const at = indexPath(path, i)
    const key = stringAt(expression, 'key')
    const values = stringsAt(expression, 'values')
    if (values.length === 0) errors.push(fieldRequired(`${at}.values`))
    for (const j of repeatsOf(values)) errors.push(fieldDuplicate(indexPath(`${at}.values`, j), values[j]))
    errors.push(...checkText(key, checkQualifiedName, `${at}.key`))
    if (keys.has(key)) errors.push(fieldDuplicate(`${at}.key`, key))
    keys.add(key)
  })
  return errors
}

const rules: readonly Rule[] = [
  metadata({ namespaced: false }),
  ...driverName('provisioner'),
  parameters,
  optionalOneOf('reclaimPolicy', ['Delete', 'Retain']),
  bindingMode,
  allowedTopologies,
]

const IMMUTABLE: readonly Rule[] = [
  immutable('parameters'),
  immutable('provisioner'),
  immutable('reclaimPolicy', { typed: true }),
  immutable('volumeBindingMode', { typed: true }),
]

// ---- Table

const DEFAULT_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

const row: TableRow = (storageClass, now) => {
  const annotations = objectAt(objectAt(storageClass, 'metadata'), 'annotations')
  const isDefault = DEFAULT_CLASS.some(annotation => stringAt(annotations, annotation) === 'true')
  return [
    nameOf(storageClass) + (isDefault ? ' (default)' : ''),
    stringAt(storageClass, 'provisioner'),
    stringAt(storageClass, 'reclaimPolicy') || 'Delete',
    stringOrUnset(storageClass, 'volumeBindingMode'),
    storageClass['allowVolumeExpansion'] === true,
    ageOf(storageClass, now),
  ]
}

export const storageClass = defineKind('storage.k8s.io/v1', 'StorageClass', {
  defaults,
  strategy: { prepareForUpdate: keepGeneration, returnsDeletedObject: true },
  validation: validationRules({
    create: rules,
    update: [...rules, metadataUpdate, ...IMMUTABLE],
  }),
  table: row,
})
