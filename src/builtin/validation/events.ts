// Events of events.k8s.io. Messages use the field names of the core group.
import { type FieldError, fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import { has, numberAt, objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import { equalValues, getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'
import { checkAnyEvent } from '../core/event.js'
import { toCoreEvent } from '../event-forms.js'

export const modernEventValidation: Validation = {
  create: event => checkNewEvent(toCoreEvent(event)),
  update: (event, old) => checkChangedEvent(toCoreEvent(event), toCoreEvent(old)),
}

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
