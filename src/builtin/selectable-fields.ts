// By which fields the objects of each kind can be selected, and what those fields hold.
import { objectAt, objectsAt, stringAt } from '../meta/values/access.js'
import {
  booleanField,
  numberField,
  type SelectableFields,
  selectableFields,
  stringField,
} from './common/selectable-fields.js'

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
  'v1 Pod': selectableFields(
    {
      'spec.nodeName': stringField('spec', 'nodeName'),
      'spec.restartPolicy': stringField('spec', 'restartPolicy'),
      'spec.schedulerName': stringField('spec', 'schedulerName'),
      'spec.serviceAccountName': stringField('spec', 'serviceAccountName'),
      'spec.hostNetwork': booleanField('spec', 'hostNetwork'),
      'status.phase': stringField('status', 'phase'),
      'status.podIP': pod => {
        const [first] = objectsAt(objectAt(pod, 'status'), 'podIPs')
        return first === undefined ? stringField('status', 'podIP')(pod) : stringAt(first, 'ip')
      },
      'status.podIPs': pod =>
        objectsAt(objectAt(pod, 'status'), 'podIPs')
          .map(address => stringAt(address, 'ip'))
          .join(','),
      'status.nominatedNodeName': stringField('status', 'nominatedNodeName'),
    },
    // An old name of spec.nodeName.
    { aliases: { 'spec.host': 'spec.nodeName' } },
  ),
  'v1 Node': selectableFields({ 'spec.unschedulable': booleanField('spec', 'unschedulable') }, { namespaced: false }),
  'v1 Namespace': selectableFields({ 'status.phase': stringField('status', 'phase') }, { namespaced: false }),
  'v1 Secret': selectableFields({ type: stringField('type') }),
  'v1 Service': selectableFields({
    'spec.clusterIP': stringField('spec', 'clusterIP'),
    'spec.type': stringField('spec', 'type'),
  }),
  'v1 Event': eventFields('involvedObject', 'reportingComponent', 'source'),
  'events.k8s.io/v1 Event': {
    ...modernEvents,
    // The same fields by the names of the newer form.
    support: (field, value) => modernEvents.support(MODERN_EVENT_FIELDS[field] ?? field, value),
  },
  'batch/v1 Job': selectableFields(
    { 'status.successful': numberField('status', 'succeeded') },
    { kindInMessage: 'Job' },
  ),
  'certificates.k8s.io/v1 CertificateSigningRequest': selectableFields(
    { 'spec.signerName': stringField('spec', 'signerName') },
    { kindInMessage: 'CertificateSigningRequest', namespaced: false },
  ),
}

const MODERN_EVENT_FIELDS: Readonly<Record<string, string | undefined>> = {
  reportingController: 'reportingComponent',
  ...Object.fromEntries(OBJECT_FIELDS.map(field => [`regarding.${field}`, `involvedObject.${field}`])),
}
