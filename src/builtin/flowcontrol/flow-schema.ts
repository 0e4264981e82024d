// FlowSchema: which requests belong to which priority level.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain } from '../../meta/object/names.js'
import {
  ensureObject,
  has,
  numberAt,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
  stringsAt,
} from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { check } from '../common/rules.js'
import { counted, statusAlone } from '../common/strategies.js'
import { ageOf, NONE, nameOf, type TableRow } from '../common/table-cells.js'
import { MANDATORY_FLOWS } from './bootstrap-objects.js'
import { fixedSpec, flowControlValidation } from './flow-control-rules.js'

// ---- validation

const HIGHEST_PRECEDENCE = 10_000

const DISTINGUISHERS = ['ByNamespace', 'ByUser']

function checkFlowSpec(spec: ValueObject, name: string): FieldError[] {
  const level = stringAt(objectAt(spec, 'priorityLevelConfiguration'), 'name')
  const levelPath = 'spec.priorityLevelConfiguration.name'
  const by = stringAt(objectAt(spec, 'distinguisherMethod'), 'type')
  return [
    ...checkPrecedence(numberAt(spec, 'matchingPrecedence'), name),
    ...(has(spec, 'distinguisherMethod') && !DISTINGUISHERS.includes(by)
      ? [fieldNotSupported('spec.distinguisherMethod.type', asStruct({ Type: by }), DISTINGUISHERS)]
      : []),
    ...(level === ''
      ? [fieldRequired(levelPath, 'must reference a priority level')]
      : checkText(level, checkDnsSubdomain, levelPath)),
    ...objectsAt(spec, 'rules').flatMap((rule, i) => checkRule(rule, indexPath('spec.rules', i))),
  ]
}

function checkPrecedence(precedence: number, name: string): FieldError[] {
  const refused = (why: string): FieldError[] => [fieldInvalid('spec.matchingPrecedence', precedence, why)]
  if (precedence <= 0) return refused('must be a positive value')
  if (precedence > HIGHEST_PRECEDENCE) return refused(`must not be greater than ${HIGHEST_PRECEDENCE}`)
  return precedence === 1 && name !== 'exempt'
    ? refused("only the schema named 'exempt' may have matchingPrecedence 1")
    : []
}

function checkRule(rule: ValueObject, path: string): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const [subjects, resources, others] = ['subjects', 'resourceRules', 'nonResourceRules'].map(field =>
    objectsAt(rule, field),
  ) as [ValueObject[], ValueObject[], ValueObject[]]
  return [
    ...(subjects.length === 0
      ? [fieldRequired(at('subjects'), 'subjects must contain at least one value')]
      : subjects.flatMap((subject, i) => checkSubject(subject, indexPath(at('subjects'), i)))),
    ...(resources.length === 0 && others.length === 0
      ? [fieldRequired(path, 'at least one of resourceRules and nonResourceRules has to be non-empty')]
      : []),
    ...resources.flatMap((each, i) => checkResourceRule(each, indexPath(at('resourceRules'), i))),
    ...others.flatMap((each, i) => checkUrlRule(each, indexPath(at('nonResourceRules'), i))),
  ]
}

const SUBJECT_FIELDS: Readonly<Record<string, string>> = {
  ServiceAccount: 'serviceAccount',
  User: 'user',
  Group: 'group',
}

/** A subject has the one field that belongs to its kind, and no other. */
function checkSubject(subject: ValueObject, path: string): FieldError[] {
  const kind = stringAt(subject, 'kind')
  if (!Object.hasOwn(SUBJECT_FIELDS, kind)) {
    return checkOneOf(kind, ['Group', 'ServiceAccount', 'User'], `${path}.kind`)
  }
  const field = SUBJECT_FIELDS[kind]!
  const others = Object.entries(SUBJECT_FIELDS).filter(([, other]) => other !== field && has(subject, other))
  const given = objectOrNone(subject, field)
  const at = `${path}.${field}`
  return [
    ...(given === undefined
      ? [fieldRequired(at, `${field} is required when subject kind is '${kind}'`)]
      : checkSubjectName(given, kind === 'ServiceAccount', at)),
    ...others.map(([otherKind, other]) =>
      fieldForbidden(`${path}.${other}`, `${other} is forbidden when subject kind is not '${otherKind}'`),
    ),
  ]
}

function checkSubjectName(subject: ValueObject, isAccount: boolean, path: string): FieldError[] {
  const [name, namespace] = [stringAt(subject, 'name'), stringAt(subject, 'namespace')]
  const errors = name === '' ? [fieldRequired(`${path}.name`)] : []
  if (!isAccount) return errors
  if (name !== '' && name !== '*') errors.push(...checkText(name, checkDnsSubdomain, `${path}.name`))
  return namespace === ''
    ? [...errors, fieldRequired(`${path}.namespace`, 'must specify namespace for service account')]
    : [...errors, ...checkText(namespace, checkDnsLabel, `${path}.namespace`)]
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']

function checkVerbs(rule: ValueObject, path: string): FieldError[] {
  const verbs = stringsAt(rule, 'verbs')
  const errors = checkSome(verbs, `${path}.verbs`, 'verbs must contain at least one value', 'verbs')
  const isKnown = verbs.includes('*') || verbs.every(verb => VERBS.includes(verb))
  return isKnown ? errors : [...errors, fieldNotSupported(`${path}.verbs`, [...verbs], VERBS)]
}

/** At least one value; '*' must be the only one. */
function checkSome(values: readonly string[], path: string, whyNone: string, others: string): FieldError[] {
  if (values.length === 0) return [fieldRequired(path, whyNone)]
  return values.length > 1 && values.includes('*')
    ? [fieldInvalid(path, [...values], `if '*' is present, must not specify other ${others}`)]
    : []
}

function checkResourceRule(rule: ValueObject, path: string): FieldError[] {
  const supply = (what: string): string => `resource rules must supply at least one ${what}`
  const namespaces = stringsAt(rule, 'namespaces')
  const hasNoScope = namespaces.length === 0 && rule['clusterScope'] !== true
  return [
    ...checkVerbs(rule, path),
    ...checkSome(stringsAt(rule, 'apiGroups'), `${path}.apiGroups`, supply('api group'), 'api groups'),
    ...checkSome(stringsAt(rule, 'resources'), `${path}.resources`, supply('resource'), 'resources'),
    ...(namespaces.length > 0 || hasNoScope
      ? checkSome(
          namespaces,
          `${path}.namespaces`,
          'resource rules that are not cluster scoped must supply at least one namespace',
          'namespaces',
        )
      : []),
    ...(namespaces.includes('*')
      ? []
      : namespaces.flatMap((namespace, i) =>
          checkText(
            namespace,
            text => checkDnsLabel(text).map(why => `each member of this list must be '*' or a DNS-1123 label; ${why}`),
            indexPath(`${path}.namespaces`, i),
          ),
        )),
  ]
}

function checkUrlRule(rule: ValueObject, path: string): FieldError[] {
  const urls = stringsAt(rule, 'nonResourceURLs')
  const at = `${path}.nonResourceURLs`
  return [
    ...checkVerbs(rule, path),
    ...checkSome(urls, at, 'nonResourceURLs must contain at least one value', 'non-resource URLs'),
    ...(urls.includes('*') ? [] : urls.flatMap((url, i) => checkUrl(url, indexPath(at, i)))),
  ]
}

function checkUrl(url: string, path: string): FieldError[] {
  const refused = (why: string): FieldError[] => [fieldInvalid(path, url, why)]
  if (url === '') return refused('must not be empty')
  if (!url.startsWith('/')) return refused('must start with slash')
  if (url.includes(' ')) return refused('must not contain white-space')
  if (url.includes('//')) return refused('must not contain double slash')
  const star = url.indexOf('*')
  return star === -1 || (star === url.length - 1 && url.endsWith('/*'))
    ? []
    : refused('wildcard can only do suffix matching')
}

// ---- Table

const row: TableRow = (schema, now) => {
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

export const flowSchema = defineKind('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', {
  defaults: schema => setDefault(ensureObject(schema, 'spec'), 'matchingPrecedence', 1000),
  strategy: counted('flowcontrol/v1.FlowSchemaStatus', {
    prepareForStatusUpdate: statusAlone,
  }),
  statusReset: ['metadata'],
  validation: flowControlValidation([
    check(schema => checkFlowSpec(objectAt(schema, 'spec'), nameOf(schema))),
    fixedSpec(MANDATORY_FLOWS, 'flowcontrol/v1.FlowSchemaSpec'),
  ]),
  table: row,
})
