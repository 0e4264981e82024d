// Event of the core group. The same objects are served in events.k8s.io, under other names of their fields, and stored
// in the form of the core group. What both forms share is here.
import { type FieldError, fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain, checkQualifiedName } from '../../meta/object/names.js'
import { ageCell } from '../../meta/table.js'
import { has, numberAt, objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkText } from '../common/field-checks.js'
import { check } from '../common/rules.js'
import { type SelectableFields, selectableFields, stringField } from '../common/selectable-fields.js'
import { keepGeneration } from '../common/strategies.js'
import { nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { toModernEvent } from './event-conversion.js'

// ---- names of the fields

export interface EventNames {
  readonly object: string
  readonly controller: string
  readonly message: string
  readonly source: string
  readonly first: string
  readonly last: string
  readonly count: string
}

const NAMES: EventNames = {
  object: 'involvedObject',
  controller: 'reportingComponent',
  message: 'message',
  source: 'source',
  first: 'firstTimestamp',
  last: 'lastTimestamp',
  count: 'count',
}

/** The fields of the object that an event is about. */
export const OBJECT_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

/** The fields for selectors, by the names of the core group. */
export const eventFields = ({ object, controller, source }: EventNames): SelectableFields =>
  selectableFields({
    ...Object.fromEntries(OBJECT_FIELDS.map(name => [`involvedObject.${name}`, stringField(object, name)])),
    reason: stringField('reason'),
    reportingComponent: stringField(controller),
    // The newer field counts where the source has no component.
    source: event => stringField(source, 'component')(event) || stringField(controller)(event),
    type: stringField('type'),
  })

export const eventRow =
  (names: EventNames): TableRow =>
  (event, now) => {
    const series = objectOrNone(event, 'series')
    const about = objectAt(event, names.object)
    const source = objectAt(event, names.source)
    const first = event[names.first] ?? event['eventTime']
    const last = series === undefined ? (event[names.last] ?? first) : series['lastObservedTime']
    const count = series === undefined ? numberAt(event, names.count) || 1 : numberAt(series, 'count')
    const kind = stringAt(about, 'kind').toLowerCase()
    const reporter = stringAt(source, 'component') || stringAt(event, names.controller)
    const instance = stringAt(source, 'host') || stringAt(event, 'reportingInstance')
    return [
      ageCell(last, now),
      stringAt(event, 'type'),
      stringAt(event, 'reason'),
      stringAt(about, 'name') === '' ? kind : `${kind}/${stringAt(about, 'name')}`,
      stringAt(about, 'fieldPath'),
      instance === '' ? reporter : `${reporter}, ${instance}`,
      stringAt(event, names.message).trim(),
      ageCell(first, now),
      count,
      nameOf(event),
    ]
  }

// ---- validation

/**
 * The rules for an event of either group, in the form of the core group. `controllerField` is how messages name the
 * controller.
 */
export function checkAnyEvent(event: ValueObject, controllerField: string): FieldError[] {
  const namespace = stringAt(objectAt(event, 'metadata'), 'namespace')
  return [
    ...(has(event, 'eventTime') ? checkReport(event, namespace, controllerField) : checkNamespace(event, namespace)),
    ...checkText(namespace, checkDnsSubdomain, 'namespace'),
  ]
}

const wrongNamespace = (objectNamespace: string): FieldError =>
  fieldInvalid('involvedObject.namespace', objectNamespace, 'does not match event.namespace')

/** An event is in the namespace of its object, or in `default` if the object has none. */
function checkNamespace(event: ValueObject, namespace: string): FieldError[] {
  const objectNamespace = stringAt(objectAt(event, 'involvedObject'), 'namespace')
  const matches = objectNamespace === '' ? namespace === '' || namespace === 'default' : namespace === objectNamespace
  return matches ? [] : [wrongNamespace(objectNamespace)]
}

/** An event with an `eventTime` names the controller that reports it, its action and its reason. */
function checkReport(event: ValueObject, namespace: string, controllerField: string): FieldError[] {
  const errors: FieldError[] = []
  const objectNamespace = stringAt(objectAt(event, 'involvedObject'), 'namespace')
  if (objectNamespace === '' && namespace !== 'default' && namespace !== 'kube-system') {
    errors.push(wrongNamespace(objectNamespace))
  }
  const controller = stringAt(event, 'reportingComponent')
  if (controller === '') errors.push(fieldRequired(controllerField))
  errors.push(...checkText(controller, checkQualifiedName, controllerField))
  for (const name of ['reportingInstance', 'action', 'reason']) {
    if (stringAt(event, name) === '') errors.push(fieldRequired(name))
    errors.push(...checkLength(event, name, 128))
  }
  return [...errors, ...checkLength(event, 'message', 1024)]
}

/** The message does not repeat a text that is too long. */
const checkLength = (event: ValueObject, name: string, max: number): FieldError[] =>
  Buffer.byteLength(stringAt(event, name)) > max ? [fieldInvalid(name, '', `can have at most ${max} characters`)] : []

const rules = [check(event => checkAnyEvent(event, 'reportingComponent'))]

export const event = defineKind('v1', 'Event', {
  strategy: { prepareForUpdate: keepGeneration, allowCreateOnUpdate: true, ignoresPropagation: true },
  validation: validationRules({ create: rules, update: rules }),
  table: eventRow(NAMES),
  selectableFields: eventFields(NAMES),
  alsoServedAs: ['events.k8s.io/v1'],
  convert: toModernEvent,
})
