// The rows of the kinds that tell the server itself what to do.
import { printStrings } from '../meta/go/go-text.js'
import {
  has,
  mapAt,
  numberAt,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  stringAt,
  stringsAt,
} from '../meta/values/access.js'
import { humanDuration } from '../meta/values/time.js'
import type { Value, ValueObject } from '../meta/values/value.js'
import { ageOf, NONE, nameOf, type TableRow } from './common/table-cells.js'

const UNSET = '<unset>'

const webhookCells: TableRow = (configuration, now) => [
  nameOf(configuration),
  objectsAt(configuration, 'webhooks').length,
  ageOf(configuration, now),
]

/** How many things a policy does, and to what the objects that it looks things up in belong. */
const policyCells =
  (field: string): TableRow =>
  (policy, now) => {
    const spec = objectAt(policy, 'spec')
    const kind = objectOrNone(spec, 'paramKind')
    return [
      nameOf(policy),
      objectsAt(spec, field).length,
      kind === undefined ? UNSET : `${stringAt(kind, 'apiVersion')}/${stringAt(kind, 'kind')}`,
      ageOf(policy, now),
    ]
  }

const bindingCells: TableRow = (binding, now) => {
  const spec = objectAt(binding, 'spec')
  return [nameOf(binding), stringAt(spec, 'policyName'), printParams(objectAt(spec, 'paramRef')), ageOf(binding, now)]
}

function printParams(ref: ValueObject): string {
  const [namespace, name] = [stringAt(ref, 'namespace'), stringAt(ref, 'name')]
  if (name !== '') return namespace === '' ? name : `${namespace}/${name}`
  const selector = objectOrNone(ref, 'selector')
  return selector === undefined ? UNSET : printGoSelector(selector)
}

/** As Go prints the type. */
function printGoSelector(selector: ValueObject): string {
  const labels = mapAt(selector, 'matchLabels')
  const keys = Object.keys(labels).toSorted()
  const expressions = objectsAt(selector, 'matchExpressions').map(each => {
    const values = stringsAt(each, 'values')
    const shown = values.length === 0 ? '[]' : printStrings(values)
    return `LabelSelectorRequirement{Key:${stringAt(each, 'key')},Operator:${stringAt(each, 'operator')},Values:${shown},}`
  })
  return `&LabelSelector{MatchLabels:map[string]string{${keys
    .map(key => `${key}: ${labels[key]!},`)
    .join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.map(each => `${each},`).join('')}},}`
}

const apiServiceCells: TableRow = (service, now) => {
  const at = objectOrNone(objectAt(service, 'spec'), 'service')
  const available = objectsAt(objectAt(service, 'status'), 'conditions').find(
    condition => stringAt(condition, 'type') === 'Available',
  )
  return [
    nameOf(service),
    at === undefined ? 'Local' : `${stringAt(at, 'namespace')}/${stringAt(at, 'name')}`,
    available === undefined ? 'Unknown' : printAvailable(available),
    ageOf(service, now),
  ]
}

const printAvailable = (condition: ValueObject): string =>
  stringAt(condition, 'status') === 'True'
    ? 'True'
    : `${stringAt(condition, 'status')} (${stringAt(condition, 'reason')})`

const flowSchemaCells: TableRow = (schema, now) => {
  const spec = objectAt(schema, 'spec')
  const dangling = objectsAt(objectAt(schema, 'status'), 'conditions').find(
    condition => stringAt(condition, 'type') === 'Dangling',
  )
  return [
    nameOf(schema),
    stringAt(objectAt(spec, 'priorityLevelConfiguration'), 'name'),
    numberAt(spec, 'matchingPrecedence'),
    stringAt(objectAt(spec, 'distinguisherMethod'), 'type') || NONE,
    ageOf(schema, now),
    dangling === undefined ? '?' : stringAt(dangling, 'status'),
  ]
}

const priorityLevelCells: TableRow = (level, now) => {
  const spec = objectAt(level, 'spec')
  const limited = objectAt(spec, 'limited')
  const queuing = objectAt(objectAt(limited, 'limitResponse'), 'queuing')
  const count = (object: ValueObject, field: string): Value => (has(object, field) ? numberAt(object, field) : NONE)
  return [
    nameOf(level),
    stringAt(spec, 'type'),
    count(limited, 'nominalConcurrencyShares'),
    ...['queues', 'handSize', 'queueLengthLimit'].map(field => count(queuing, field)),
    ageOf(level, now),
  ]
}

const signingRequestCells: TableRow = (request, now) => {
  const spec = objectAt(request, 'spec')
  const seconds = numberOrNone(spec, 'expirationSeconds')
  return [
    nameOf(request),
    ageOf(request, now),
    stringAt(spec, 'signerName') || NONE,
    stringAt(spec, 'username'),
    seconds === undefined ? NONE : humanDuration(seconds * 1000),
    printAnswer(objectAt(request, 'status')),
  ]
}

/** How far the answer to a request for a certificate has come. */
function printAnswer(status: ValueObject): string {
  const types = new Set(objectsAt(status, 'conditions').map(condition => stringAt(condition, 'type')))
  const decision = ['Denied', 'Approved'].find(type => types.has(type)) ?? 'Pending'
  const further = [types.has('Failed') && 'Failed', has(status, 'certificate') && 'Issued']
  return [decision, ...further].filter(Boolean).join(',')
}

const ADMISSION = 'admissionregistration.k8s.io/v1'
const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1'

export const CONTROL_PLANE_CELLS: Readonly<Record<string, TableRow>> = {
  [`${ADMISSION} validatingwebhookconfigurations`]: webhookCells,
  [`${ADMISSION} mutatingwebhookconfigurations`]: webhookCells,
  [`${ADMISSION} validatingadmissionpolicies`]: policyCells('validations'),
  [`${ADMISSION} mutatingadmissionpolicies`]: policyCells('mutations'),
  [`${ADMISSION} validatingadmissionpolicybindings`]: bindingCells,
  [`${ADMISSION} mutatingadmissionpolicybindings`]: bindingCells,
  'certificates.k8s.io/v1 certificatesigningrequests': signingRequestCells,
  'apiregistration.k8s.io/v1 apiservices': apiServiceCells,
  [`${FLOW_CONTROL} flowschemas`]: flowSchemaCells,
  [`${FLOW_CONTROL} prioritylevelconfigurations`]: priorityLevelCells,
}
