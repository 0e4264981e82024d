// APIService: which server serves a group version: this one, or one behind a Service.
import { type FieldError, fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'
import { checkDns1035Label, checkDnsSubdomain, checkPathSegment } from '../../meta/object/names.js'
import {
  ensureObject,
  has,
  keepFrom,
  numberAt,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
} from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { TypeTable } from '../../types/type-table.js'
import { defineKind } from '../common/define-kind.js'
import { checkText } from '../common/field-checks.js'
import { anyFinalizerUpdate, checkMeta } from '../common/metadata.js'
import { check, each, field, oneOf } from '../common/rules.js'
import {
  type BuiltinStrategy,
  clearStatus,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  type PrepareForUpdate,
} from '../common/strategies.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

// ---- validation

function checkService(service: ValueObject): FieldError[] {
  const spec = objectAt(service, 'spec')
  const [group, version] = [stringAt(spec, 'group'), stringAt(spec, 'version')]
  return [
    ...checkMeta(service, {
      namespaced: false,
      knownFinalizers: false,
      name: name => checkName(name, `${version}.${group}`),
    }),
    ...(group === '' && version !== 'v1'
      ? [fieldRequired('spec.group', 'only v1 may have an empty group and it better be legacy kube')]
      : []),
    ...(group === '' ? [] : checkText(group, checkDnsSubdomain, 'spec.group')),
    ...checkText(version, checkDns1035Label, 'spec.version'),
    ...checkPriority(spec, 'groupPriorityMinimum', 20_000),
    ...checkPriority(spec, 'versionPriority', 1000),
    ...checkBackend(spec),
  ]
}

function checkName(name: string, required: string): string[] {
  const errors = checkPathSegment(name)
  if (errors.length > 0 || name === required) return errors
  return [`must be \`spec.version+"."+spec.group\`: ${quote(required)}`]
}

function checkPriority(spec: ValueObject, name: string, max: number): FieldError[] {
  const priority = numberAt(spec, name)
  return priority > 0 && priority <= max
    ? []
    : [fieldInvalid(`spec.${name}`, priority, `must be positive and less than ${max}`)]
}

function checkBackend(spec: ValueObject): FieldError[] {
  const service = objectOrNone(spec, 'service')
  const bundle = Buffer.from(stringAt(spec, 'caBundle'), 'base64').length
  const isInsecure = spec['insecureSkipTLSVerify'] === true
  const insecure = (why: string): FieldError => fieldInvalid('spec.insecureSkipTLSVerify', true, why)
  if (service === undefined) {
    return [
      ...(bundle > 0
        ? [fieldInvalid('spec.caBundle', `${bundle} bytes`, 'local APIServices may not have a caBundle')]
        : []),
      ...(isInsecure ? [insecure('local APIServices may not have insecureSkipTLSVerify')] : []),
    ]
  }
  const port = numberOrNone(service, 'port') ?? 443
  return [
    ...['namespace', 'name']
      .filter(name => stringAt(service, name) === '')
      .map(name => fieldRequired(`spec.service.${name}`)),
    ...(port < 1 || port > 65_535
      ? [fieldInvalid('spec.service.port', port, 'port is not valid: must be between 1 and 65535, inclusive')]
      : []),
    ...(isInsecure && bundle > 0 ? [insecure('may not be true if caBundle is present')] : []),
  ]
}

const conditionStatuses = each('conditions', [oneOf('status', ['True', 'False', 'Unknown'])])

// ---- strategy

const LOCAL_MESSAGE = 'Local APIServices are always available'

/** Unlike other kinds it does not keep the deletionTimestamp, so a body with another one is refused. */
const keepOwnMetadata: PrepareForUpdate = (service, old) => {
  const meta = ensureObject(service, 'metadata')
  for (const name of ['labels', 'annotations', 'finalizers', 'ownerReferences']) {
    keepFrom(meta, objectAt(old, 'metadata'), name)
  }
}

/** An APIService without a Service is served by this process, so it is available from the start. */
const strategy = (table: TypeTable): BuiltinStrategy => {
  const clear = clearStatus(table, 'apiregistration/v1.APIServiceStatus')
  return {
    prepareForCreate: (service, context) => {
      clear(service, context)
      if (has(objectAt(service, 'spec'), 'service')) return
      const available = { type: 'Available', status: 'True', lastTransitionTime: context.now }
      service['status'] = { conditions: [{ ...available, reason: 'Local', message: LOCAL_MESSAGE }] }
    },
    prepareForUpdate: inTurn(keepGeneration, keepStatus),
    prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, keepOwnMetadata),
    allowUnconditionalUpdate: false,
    subresourcesWithoutTable: ['status'],
  }
}

function defaults(service: ValueObject): void {
  const backend = objectOrNone(objectAt(service, 'spec'), 'service')
  if (backend !== undefined) setDefault(backend, 'port', 443, false)
}

// ---- Table

const row: TableRow = (service, now) => {
  const backend = objectOrNone(objectAt(service, 'spec'), 'service')
  const available = objectsAt(objectAt(service, 'status'), 'conditions').find(
    condition => stringAt(condition, 'type') === 'Available',
  )
  return [
    nameOf(service),
    backend === undefined ? 'Local' : `${stringAt(backend, 'namespace')}/${stringAt(backend, 'name')}`,
    available === undefined ? 'Unknown' : availableCell(available),
    ageOf(service, now),
  ]
}

const availableCell = (condition: ValueObject): string =>
  stringAt(condition, 'status') === 'True'
    ? 'True'
    : `${stringAt(condition, 'status')} (${stringAt(condition, 'reason')})`

export const apiService = defineKind('apiregistration.k8s.io/v1', 'APIService', {
  keyPrefix: '/apiregistration.k8s.io/apiservices/',
  defaults,
  strategy,
  statusReset: ['metadata'],
  validation: validationRules({
    create: [check(checkService)],
    update: [anyFinalizerUpdate, check(checkService)],
    status: [anyFinalizerUpdate, field('status', [conditionStatuses])],
  }),
  table: row,
})
