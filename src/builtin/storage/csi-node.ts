// CSINode: the drivers on a node.

import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkQualifiedName } from '../../meta/object/names.js'
import { numberAt, objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { firstByKey, repeatsOf } from '../../meta/values/list-keys.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkDriverName } from '../common/driver-name.js'
import { checkNotNegative, checkText } from '../common/field-checks.js'
import { asGoStruct } from '../common/go-struct.js'
import { metadata } from '../common/metadata.js'
import { check, checkUpdate, field, type Rule } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

const MAX_NODE_ID = 256

const drivers = check((spec, path) => {
  const names = new Set<string>()
  return objectsAt(spec, 'drivers').flatMap((driver, i) =>
    checkDriver(driver, names, indexPath(childPath(path, 'drivers'), i)),
  )
})

/** Adds the name of the driver to the names that are taken. */
function checkDriver(driver: ValueObject, names: Set<string>, path: string): FieldError[] {
  const at = (name: string): string => childPath(path, name)
  const [name, id] = [stringAt(driver, 'name'), stringAt(driver, 'nodeID')]
  const errors = checkDriverName(name, at('name'))
  if (id === '') errors.push(fieldRequired(at('nodeID')))
  else if (id.length > MAX_NODE_ID) {
    errors.push(fieldInvalid(at('nodeID'), id, `must be ${MAX_NODE_ID} characters or less`))
  }
  errors.push(...checkNotNegative(numberAt(objectAt(driver, 'allocatable'), 'count'), at('allocatable.count')))
  if (names.has(name)) errors.push(fieldDuplicate(at('name'), name))
  names.add(name)
  return [...errors, ...checkTopologyKeys(stringsAt(driver, 'topologyKeys'), path)]
}

/** kube-apiserver reports errors of these keys at the driver. */
function checkTopologyKeys(keys: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = []
  const repeats = repeatsOf(keys)
  keys.forEach((key, i) => {
    if (key === '') errors.push(fieldRequired(path))
    if (repeats.has(i)) errors.push(fieldDuplicate(path, key))
    errors.push(...checkText(key, checkQualifiedName, path))
  })
  return errors
}

/** Of a driver that is there already, only the number of volumes may change. */
const knownDriversStay = checkUpdate((spec, old, path) => {
  const nameOfDriver = (driver: ValueObject): string => stringAt(driver, 'name')
  const before = firstByKey(objectsAt(old, 'drivers'), nameOfDriver)
  return objectsAt(spec, 'drivers').flatMap(driver => {
    const known = before.get(nameOfDriver(driver))
    const shown = { ...driver, allocatable: null }
    if (known === undefined || equalValues({ ...known, allocatable: null }, shown)) return []
    const at = childPath(path, 'drivers')
    return [fieldInvalid(at, asGoStruct('storage/v1.CSINodeDriver', shown), 'field is immutable')]
  })
})

const rules: readonly Rule[] = [metadata({ namespaced: false }), field('spec', [drivers])]

export const csiNode = defineKind('storage.k8s.io/v1', 'CSINode', {
  strategy: { prepareForUpdate: keepGeneration, allowUnconditionalUpdate: false, returnsDeletedObject: true },
  validation: validationRules({
    create: rules,
    // A change of the metadata is reported by the rules of all kinds alone.
    update: [...rules, field('spec', [knownDriversStay])],
  }),
  table: (node, now) => [nameOf(node), objectsAt(objectAt(node, 'spec'), 'drivers').length, ageOf(node, now)],
})
