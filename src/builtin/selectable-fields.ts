// By which fields the objects of each kind can be selected, and what those fields hold.
import { type SelectableFields, selectableFields, stringField } from './common/selectable-fields.js'

const OBJECT_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

const eventFields = (object: string, controller: string, source: string): SelectableFields =>
  selectableFields({
    ...Object.fromEntries(OBJECT_FIELDS.map(field => [`involvedObject.${field}`, stringField(object, field)])),
    reason: stringField('reason'),
    reportingComponent: stringField(controller),
    // Whoever reports by the newer name is the source too.
    source: event => stringField(source, 'component')(event) || stringField(controller)(event),
    type: stringField('type'),
  })

const modernEvents = eventFields('regarding', 'reportingController', 'deprecatedSource')

export const FIELDS: Readonly<Record<string, SelectableFields | undefined>> = {
  'v1 Event': eventFields('involvedObject', 'reportingComponent', 'source'),
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
