// Event of events.k8s.io. It is stored as an event of the core group, and messages use the field names of that group.

import { failed, parsed } from '../../base/result.js'
import { fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import { has, numberAt, objectAt, stringAt } from '../../meta/values/access.js'
import { getOwn } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { sameValue } from '../common/field-checks.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, immutable, optional, type Rule, when } from '../common/rules.js'
import type { SelectableFields } from '../common/selectable-fields.js'
import { keepGeneration } from '../common/strategies.js'
import { type Validation, validationRules } from '../common/validation.js'
import { checkAnyEvent, type EventNames, eventFields, eventRow, OBJECT_FIELDS } from '../core/event.js'
import { toCoreEvent } from '../core/event-conversion.js'

const NAMES: EventNames = {
  object: 'regarding',
  controller: 'reportingController',
  message: 'note',
  source: 'deprecatedSource',
  first: 'deprecatedFirstTimestamp',
  last: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
}

// ---- validation, of the event as the core group has it

const anyEvent = check(event => checkAnyEvent(event, 'reportingController'))

const series = optional('series', [
  check(given => (numberAt(given, 'count') < 2 ? [fieldInvalid('series.count', '', 'should be at least 2')] : [])),
  check(given => (has(given, 'lastObservedTime') ? [] : [fieldRequired('series.lastObservedTime')])),
])

const eventTime = check(event => (has(event, 'eventTime') ? [] : [fieldRequired('eventTime')]))

const type = check(event => {
  const given = stringAt(event, 'type')
  return given === 'Normal' || given === 'Warning' ? [] : [fieldInvalid('type', '', `has invalid value: ${given}`)]
})

/** Fields of earlier versions, which a new event must not have. */
const noDeprecatedFields = check(event => {
  const source = objectAt(event, 'source')
  const given = {
    firstTimestamp: has(event, 'firstTimestamp'),
    lastTimestamp: has(event, 'lastTimestamp'),
    count: numberAt(event, 'count') !== 0,
    source: stringAt(source, 'component') !== '' || stringAt(source, 'host') !== '',
  }
  return Object.entries(given).flatMap(([name, isSet]) => (isSet ? [fieldInvalid(name, '', 'needs to be unset')] : []))
})

/** An update changes only the series. kube-apiserver compares the reason twice. */
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

const immutableController: Rule = checkUpdate((event, old) => {
  const controller = stringAt(event, 'reportingComponent')
  if (controller === stringAt(old, 'reportingComponent')) return []
  return [fieldInvalid('reportingController', controller, 'field is immutable')]
})

const rules = validationRules({
  create: [anyEvent, metadata({ namespaced: true }), series, eventTime, type, noDeprecatedFields],
  update: [
    anyEvent,
    metadataUpdate,
    when((event, old) => old !== undefined && !sameValue(getOwn(event, 'series'), getOwn(old, 'series')), [series]),
    ...KEPT.map(name => immutable(name, { of: 'core/v1.Event' })),
    immutableController,
    immutable('reportingInstance', { of: 'core/v1.Event' }),
  ],
})

const validation: Validation = {
  create: event => rules.create(toCoreEvent(event)),
  update: (event, old) => rules.update(toCoreEvent(event), toCoreEvent(old)),
}

// ---- fields for selectors

/** The fields of this group, by the names of the core group in which they are kept. */
const CORE_NAMES: Readonly<Record<string, string | undefined>> = {
  ...Object.fromEntries(['metadata.name', 'metadata.namespace', 'reason', 'type'].map(name => [name, name])),
  reportingController: 'reportingComponent',
  ...Object.fromEntries(OBJECT_FIELDS.map(name => [`regarding.${name}`, `involvedObject.${name}`])),
}

const coreFields = eventFields(NAMES)

const selectableFields: SelectableFields = {
  ...coreFields,
  support(name, value) {
    const field = Object.hasOwn(CORE_NAMES, name) ? CORE_NAMES[name] : undefined
    return field === undefined ? failed(`field label not supported: ${name}`) : parsed({ field, value })
  },
}

export const modernEvent = defineKind('events.k8s.io/v1', 'Event', {
  strategy: { prepareForUpdate: keepGeneration, allowCreateOnUpdate: true, ignoresPropagation: true },
  validation,
  table: eventRow(NAMES),
  selectableFields,
  storedAs: 'v1',
  alsoServedAs: ['v1'],
  convert: toCoreEvent,
})
