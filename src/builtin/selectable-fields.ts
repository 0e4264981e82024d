// By which fields the objects of each kind can be selected, and what those fields hold.
import { onlyNameAndNamespace, onlyTheseFields, type SupportField } from '../meta/selectors/field-selectors.js'
import { numberAt, objectAt, objectsAt, stringAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'

export interface SelectableFields {
  /** Whether a selector may ask for a field, and why not. */
  readonly support: SupportField
  /** The values of the fields apart from `metadata.name` and `metadata.namespace`. */
  readonly values: (object: ValueObject) => Record<string, string>
}

export const selectableFieldsOf = (apiVersion: string, kind: string): SelectableFields =>
  FIELDS[`${apiVersion} ${kind}`] ?? NOTHING_ELSE

const NOTHING_ELSE: SelectableFields = { support: onlyNameAndNamespace, values: () => ({}) }

/** `told` is the kind as the answer names it, where the reference server does. */
function fields(
  readers: Readonly<Record<string, (object: ValueObject) => string>>,
  { told, namespaced = true, aliases = {} }: FieldOptions = {},
): SelectableFields {
  const known = ['metadata.name', ...(namespaced ? ['metadata.namespace'] : []), ...Object.keys(readers)]
  const support = onlyTheseFields(known, told)
  return {
    support: (field, value) => support(Object.hasOwn(aliases, field) ? aliases[field]! : field, value),
    values: object => Object.fromEntries(Object.entries(readers).map(([field, read]) => [field, read(object)])),
  }
}

interface FieldOptions {
  readonly told?: string
  readonly namespaced?: boolean
  /** Older names of fields. */
  readonly aliases?: Readonly<Record<string, string>>
}

/** Reads a text by its path. */
const text =
  (...path: readonly string[]) =>
  (object: ValueObject): string => {
    const last = path.length - 1
    let at = object
    for (const name of path.slice(0, last)) at = objectAt(at, name)
    return stringAt(at, path[last]!)
  }

const flag =
  (...path: readonly [string, string]) =>
  (object: ValueObject): string =>
    String(objectAt(object, path[0])[path[1]] === true)

const count =
  (...path: readonly [string, string]) =>
  (object: ValueObject): string =>
    String(numberAt(objectAt(object, path[0]), path[1]))

const OBJECT_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']

const eventFields = (object: string, controller: string, source: string): SelectableFields =>
  fields({
    ...Object.fromEntries(OBJECT_FIELDS.map(field => [`involvedObject.${field}`, text(object, field)])),
    reason: text('reason'),
    reportingComponent: text(controller),
    // Whoever reports by the newer name is the source too.
    source: event => text(source, 'component')(event) || text(controller)(event),
    type: text('type'),
  })

const modernEvents = eventFields('regarding', 'reportingController', 'deprecatedSource')

const FIELDS: Readonly<Record<string, SelectableFields | undefined>> = {
  'v1 Pod': fields(
    {
      'spec.nodeName': text('spec', 'nodeName'),
      'spec.restartPolicy': text('spec', 'restartPolicy'),
      'spec.schedulerName': text('spec', 'schedulerName'),
      'spec.serviceAccountName': text('spec', 'serviceAccountName'),
      'spec.hostNetwork': flag('spec', 'hostNetwork'),
      'status.phase': text('status', 'phase'),
      'status.podIP': pod => {
        const [first] = objectsAt(objectAt(pod, 'status'), 'podIPs')
        return first === undefined ? text('status', 'podIP')(pod) : stringAt(first, 'ip')
      },
      'status.podIPs': pod =>
        objectsAt(objectAt(pod, 'status'), 'podIPs')
          .map(address => stringAt(address, 'ip'))
          .join(','),
      'status.nominatedNodeName': text('status', 'nominatedNodeName'),
    },
    // An old name of spec.nodeName.
    { aliases: { 'spec.host': 'spec.nodeName' } },
  ),
  'v1 Node': fields({ 'spec.unschedulable': flag('spec', 'unschedulable') }, { namespaced: false }),
  'v1 Namespace': fields({ 'status.phase': text('status', 'phase') }, { namespaced: false }),
  'v1 Secret': fields({ type: text('type') }),
  'v1 Service': fields({ 'spec.clusterIP': text('spec', 'clusterIP'), 'spec.type': text('spec', 'type') }),
  'v1 Event': eventFields('involvedObject', 'reportingComponent', 'source'),
  'events.k8s.io/v1 Event': {
    ...modernEvents,
    // The same fields by the names of the newer form.
    support: (field, value) => modernEvents.support(MODERN_EVENT_FIELDS[field] ?? field, value),
  },
  'v1 ReplicationController': fields({ 'status.replicas': count('status', 'replicas') }),
  'batch/v1 Job': fields({ 'status.successful': count('status', 'succeeded') }, { told: 'Job' }),
  'certificates.k8s.io/v1 CertificateSigningRequest': fields(
    { 'spec.signerName': text('spec', 'signerName') },
    { told: 'CertificateSigningRequest', namespaced: false },
  ),
}

const MODERN_EVENT_FIELDS: Readonly<Record<string, string | undefined>> = {
  reportingController: 'reportingComponent',
  ...Object.fromEntries(OBJECT_FIELDS.map(field => [`regarding.${field}`, `involvedObject.${field}`])),
}
