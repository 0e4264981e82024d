// Events of the core group, which may be nearly anything, and of events.k8s.io, which say who saw what and when.
// Faults are told in the terms of the core group, whichever the client used.
import { type FieldError, fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain, checkQualifiedName } from '../../meta/object/names.js'
import { has, numberAt, objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import { equalValues, getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkText } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'
import { toCoreEvent } from '../event-forms.js'

export const coreEventValidation: Validation = {
  create: event => checkAnyEvent(event, 'reportingComponent'),
  update: event => checkAnyEvent(event, 'reportingComponent'),
}

export const modernEventValidation: Validation = {
  create: event => checkNewEvent(toCoreEvent(event)),
  update: (event, old) => checkChangedEvent(toCoreEvent(event), toCoreEvent(old)),
}

function checkAnyEvent(event: ValueObject, controllerField: string): FieldError[] {
  const namespace = stringAt(objectAt(event, 'metadata'), 'namespace')
  return [
    ...(has(event, 'eventTime') ? checkReport(event, namespace, controllerField) : checkPlace(event, namespace)),
    ...checkText(namespace, checkDnsSubdomain, 'namespace'),
  ]
}

const misplaced = (objectNamespace: string): FieldError =>
  fieldInvalid('involvedObject.namespace', objectNamespace, 'does not match event.namespace')

/** An event lives with its object; those about objects without a namespace live in `default`. */
function checkPlace(event: ValueObject, namespace: string): FieldError[] {
  const objectNamespace = stringAt(objectAt(event, 'involvedObject'), 'namespace')
  const fits = objectNamespace === '' ? namespace === '' || namespace === 'default' : namespace === objectNamespace
  return fits ? [] : [misplaced(objectNamespace)]
}

function checkReport(event: ValueObject, namespace: string, controllerField: string): FieldError[] {
  const errors: FieldError[] = []
  const objectNamespace = stringAt(objectAt(event, 'involvedObject'), 'namespace')
  if (objectNamespace === '' && namespace !== 'default' && namespace !== 'kube-system') {
    errors.push(misplaced(objectNamespace))
  }
  const controller = stringAt(event, 'reportingComponent')
  if (controller === '') errors.push(fieldRequired(controllerField))
  errors.push(...checkText(controller, checkQualifiedName, controllerField))
  for (const field of ['reportingInstance', 'action', 'reason']) {
    if (stringAt(event, field) === '') errors.push(fieldRequired(field))
    errors.push(...checkLength(event, field, 128))
  }
  return [...errors, ...checkLength(event, 'message', 1024)]
}

/** Too long a text is not repeated in the answer. */
const checkLength = (event: ValueObject, field: string, max: number): FieldError[] =>
  Buffer.byteLength(stringAt(event, field)) > max ? [fieldInvalid(field, '', `can have at most ${max} characters`)] : []

function checkNewEvent(event: ValueObject): FieldError[] {
  const errors = [
    ...checkAnyEvent(event, 'reportingController'),
    ...checkMeta(event, { namespaced: true }),
    ...checkSeries(event),
  ]
  if (!has(event, 'eventTime')) errors.push(fieldRequired('eventTime'))
  const type = stringAt(event, 'type')
  if (type !== 'Normal' && type !== 'Warning') errors.push(fieldInvalid('type', '', `has invalid value: ${type}`))
  for (const field of ['firstTimestamp', 'lastTimestamp']) {
    if (has(event, field)) errors.push(fieldInvalid(field, '', 'needs to be unset'))
  }
  if (numberAt(event, 'count') !== 0) errors.push(fieldInvalid('count', '', 'needs to be unset'))
  const source = objectAt(event, 'source')
  if (stringAt(source, 'component') !== '' || stringAt(source, 'host') !== '') {
    errors.push(fieldInvalid('source', '', 'needs to be unset'))
  }
  return errors
}

function checkSeries(event: ValueObject): FieldError[] {
  const series = objectOrNone(event, 'series')
  if (series === undefined) return []
  const errors: FieldError[] = []
  if (numberAt(series, 'count') < 2) errors.push(fieldInvalid('series.count', '', 'should be at least 2'))
  if (!has(series, 'lastObservedTime')) errors.push(fieldRequired('series.lastObservedTime'))
  return errors
}

/** Only the series of an event goes on. The reference server looks at the reason twice. */
const KEPT = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
]

function checkChangedEvent(event: ValueObject, old: ValueObject): FieldError[] {
  const changed = (field: string): boolean => !equalValues(getOwn(event, field) ?? null, getOwn(old, field) ?? null)
  const immutable = (field: string, told = field): FieldError[] =>
    changed(field) ? [fieldInvalid(told, getOwn(event, field) ?? null, 'field is immutable')] : []
  return [
    ...checkAnyEvent(event, 'reportingController'),
    ...checkMetaUpdate(event, old),
    ...(changed('series') ? checkSeries(event) : []),
    ...KEPT.flatMap(field => immutable(field)),
    ...immutable('reportingComponent', 'reportingController'),
    ...immutable('reportingInstance'),
  ]
}
