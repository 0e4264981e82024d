// ControllerRevision: a past template of a daemon set or stateful set.
import { type FieldError, fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import { numberAt, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { getOwn, isObject, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { sameValue } from '../common/field-checks.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, notNegative } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { ageOf, NONE, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

function checkData(revision: ValueObject): FieldError[] {
  const data = getOwn(revision, 'data')
  if (data === undefined || data === null) return [fieldRequired('data', 'data is mandatory')]
  return isObject(data) ? [] : [fieldRequired('data', 'data must be a valid JSON object')]
}

const immutableData = checkUpdate((revision, old) => {
  const data = getOwn(revision, 'data') ?? null
  return sameValue(data, getOwn(old, 'data')) ? [] : [fieldInvalid('data', data, 'field is immutable')]
})

/** The owner that controls the revision: `statefulset.apps/web`. */
function controllerCell(revision: ValueObject): string {
  const owners = objectsAt(objectAt(revision, 'metadata'), 'ownerReferences')
  const controller = owners.find(owner => owner['controller'] === true)
  if (controller === undefined) return NONE
  const [group = '', version] = stringAt(controller, 'apiVersion').split('/')
  const kind = stringAt(controller, 'kind').toLowerCase()
  const resource = version === undefined ? kind : `${kind}.${group}`
  return `${resource}/${stringAt(controller, 'name')}`
}

const row: TableRow = (revision, now) => [
  nameOf(revision),
  controllerCell(revision),
  numberAt(revision, 'revision'),
  ageOf(revision, now),
]

const common = [metadata({ namespaced: true }), notNegative('revision')]

export const controllerRevision = defineKind('apps/v1', 'ControllerRevision', {
  strategy: { prepareForUpdate: keepGeneration },
  validation: validationRules({
    create: [...common, check(checkData)],
    update: [metadataUpdate, ...common, immutableData],
  }),
  table: row,
})
