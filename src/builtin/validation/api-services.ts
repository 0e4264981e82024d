// Which server answers for a version of a group: this one, or one behind a service.
import { type FieldError, fieldInvalid, fieldRequired, indexPath } from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'
import { checkDns1035Label, checkDnsSubdomain, checkPathSegment } from '../../meta/object/names.js'
import { numberAt, numberOrNone, objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

const check = (service: ValueObject): FieldError[] => {
  const spec = objectAt(service, 'spec')
  const [group, version] = [stringAt(spec, 'group'), stringAt(spec, 'version')]
  return [
    ...checkMeta(service, { namespaced: false, name: name => checkName(name, `${version}.${group}`) }),
    ...(group === '' && version !== 'v1'
      ? [fieldRequired('spec.group', 'only v1 may have an empty group and it better be legacy kube')]
      : []),
    ...(group === '' ? [] : checkText(group, checkDnsSubdomain, 'spec.group')),
    ...checkText(version, checkDns1035Label, 'spec.version'),
    ...checkPriority(spec, 'groupPriorityMinimum', 20_000),
    ...checkPriority(spec, 'versionPriority', 1000),
    ...checkPlace(spec),
  ]
}

function checkName(name: string, required: string): string[] {
  const errors = checkPathSegment(name)
  if (errors.length > 0 || name === required) return errors
  return [`must be \`spec.version+"."+spec.group\`: ${quote(required)}`]
}

function checkPriority(spec: ValueObject, field: string, max: number): FieldError[] {
  const priority = numberAt(spec, field)
  return priority > 0 && priority <= max
    ? []
    : [fieldInvalid(`spec.${field}`, priority, `must be positive and less than ${max}`)]
}

function checkPlace(spec: ValueObject): FieldError[] {
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
      .filter(field => stringAt(service, field) === '')
      .map(field => fieldRequired(`spec.service.${field}`)),
    ...(port < 1 || port > 65_535
      ? [fieldInvalid('spec.service.port', port, 'port is not valid: must be between 1 and 65535, inclusive')]
      : []),
    ...(isInsecure && bundle > 0 ? [insecure('may not be true if caBundle is present')] : []),
  ]
}

export const apiServiceValidation: Validation = {
  create: check,
  update: (service, old) => [...checkMetaUpdate(service, old), ...check(service)],
  status: (service, old) => [
    ...checkMetaUpdate(service, old),
    ...objectsAt(objectAt(service, 'status'), 'conditions').flatMap((condition, i) =>
      checkOneOf(
        stringAt(condition, 'status'),
        ['True', 'False', 'Unknown'],
        `${indexPath('status.conditions', i)}.status`,
      ),
    ),
  ],
}
