// The fields that field selectors may name, for kinds without a file of their own.

import { type SelectableFields } from './common/selectable-fields.js'
import { eventFields, OBJECT_FIELDS } from './core/event.js'

const modernEvents = eventFields({
  object: 'regarding',
  controller: 'reportingController',
  message: 'note',
  source: 'deprecatedSource',
  first: 'deprecatedFirstTimestamp',
  last: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
})

export const FIELDS: Readonly<Record<string, SelectableFields | undefined>> = {
  'events.k8s.io/v1 Event': {
    ...modernEvents,
    // The same fields by the names of the newer form.
    support: (field, value) => modernEvents.support(MODERN_EVENT_FIELDS[field] ?? field, value),
  },
}

const MODERN_EVENT_FIELDS: Readonly<Record<string, string | undefined>> = {
  reportingController: 'reportingComponent',
  ...Object.fromEntries(OBJECT_FIELDS.map(field => [`regarding.${field}`, `involvedObject.${field}`])),
}
