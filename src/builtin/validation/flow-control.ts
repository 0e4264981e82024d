// Which requests share which part of the server's time: flow schemas sort requests, priority levels give them room.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain } from '../../meta/object/names.js'
import {
  has,
  numberAt,
  numberOrNone,
  objectAt,
  objectOrNone,
  objectsAt,
  stringAt,
  stringsAt,
} from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { checkOneOf, checkText } from '../common/field-checks.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Check, type Validation } from '../common/validation.js'
import { asGoStruct } from '../core/pod/spec-diff.js'
import { MANDATORY_FLOWS, MANDATORY_LEVELS } from '../flow-control-objects.js'

const validationBy = (check: Check): Validation => ({
  create: check,
  update: (object, old) => [...check(object), ...checkMetaUpdate(object, old)],
  status: (object, old) => [...checkMetaUpdate(object, old), ...checkConditionTypes(objectAt(object, 'status'))],
})

function checkConditionTypes(status: ValueObject): FieldError[] {
  const seen = new Set<string>()
  return objectsAt(status, 'conditions').flatMap((condition, i) => {
    const path = `${indexPath('status.conditions', i)}.type`
    const type = stringAt(condition, 'type')
    const errors = seen.has(type) ? [fieldDuplicate(path, type)] : []
    seen.add(type)
    if (type === '') errors.push(fieldRequired(path, 'must not be empty'))
    return errors
  })
}

const nameOf = (object: ValueObject): string => stringAt(objectAt(object, 'metadata'), 'name')

/** Some objects are the same in every cluster. */
function checkFixed(
  name: string,
  spec: ValueObject,
  fixed: Readonly<Record<string, ValueObject>>,
  typeName: string,
): FieldError[] {
  if (!Object.hasOwn(fixed, name) || equalValues(spec, fixed[name])) return []
  return [fieldInvalid('spec', asGoStruct(typeName, spec), `spec of '${name}' must equal the fixed value`)]
}

// ---- flow schemas

const HIGHEST_PRECEDENCE = 10_000

export const flowSchemaValidation = validationBy(schema => {
  const spec = objectAt(schema, 'spec')
  return [
    ...checkMeta(schema, { namespaced: false }),
    ...checkFlowSpec(spec, nameOf(schema)),
    ...checkFixed(nameOf(schema), spec, MANDATORY_FLOWS, 'flowcontrol/v1.FlowSchemaSpec'),
    ...checkConditionTypes(objectAt(schema, 'status')),
  ]
})

function checkFlowSpec(spec: ValueObject, name: string): FieldError[] {
  const level = stringAt(objectAt(spec, 'priorityLevelConfiguration'), 'name')
  const levelPath = 'spec.priorityLevelConfiguration.name'
  const by = stringAt(objectAt(spec, 'distinguisherMethod'), 'type')
  return [
    ...checkPrecedence(numberAt(spec, 'matchingPrecedence'), name),
    ...(has(spec, 'distinguisherMethod')
      ? checkOneOf(by, ['ByNamespace', 'ByUser'], 'spec.distinguisherMethod.type', { required: true })
      : []),
    ...(level === ''
      ? [fieldRequired(levelPath, 'must reference a priority level')]
      : checkText(level, checkDnsSubdomain, levelPath)),
    ...objectsAt(spec, 'rules').flatMap((rule, i) => checkRule(rule, indexPath('spec.rules', i))),
  ]
}

function checkPrecedence(precedence: number, name: string): FieldError[] {
  const told = (why: string): FieldError[] => [fieldInvalid('spec.matchingPrecedence', precedence, why)]
  if (precedence <= 0) return told('must be a positive value')
  if (precedence > HIGHEST_PRECEDENCE) return told(`must not be greater than ${HIGHEST_PRECEDENCE}`)
  return precedence === 1 && name !== 'exempt'
    ? told("only the schema named 'exempt' may have matchingPrecedence 1")
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

/** A subject says who it is under the name of its kind, and under no other. */
function checkSubject(subject: ValueObject, path: string): FieldError[] {
  const kind = stringAt(subject, 'kind')
  if (!Object.hasOwn(SUBJECT_FIELDS, kind)) {
    return checkOneOf(kind, ['Group', 'ServiceAccount', 'User'], `${path}.kind`, { required: true })
  }
  const field = SUBJECT_FIELDS[kind]!
  const others = Object.entries(SUBJECT_FIELDS).filter(([, other]) => other !== field && has(subject, other))
  const who = objectOrNone(subject, field)
  const at = `${path}.${field}`
  return [
    ...(who === undefined
      ? [fieldRequired(at, `${field} is required when subject kind is '${kind}'`)]
      : checkWho(who, kind === 'ServiceAccount', at)),
    ...others.map(([otherKind, other]) =>
      fieldForbidden(`${path}.${other}`, `${other} is forbidden when subject kind is not '${otherKind}'`),
    ),
  ]
}

function checkWho(who: ValueObject, isAccount: boolean, path: string): FieldError[] {
  const [name, namespace] = [stringAt(who, 'name'), stringAt(who, 'namespace')]
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

/** At least one; or all of them by one star. */
function checkSome(values: readonly string[], path: string, whyNone: string, others: string): FieldError[] {
  if (values.length === 0) return [fieldRequired(path, whyNone)]
  return values.length > 1 && values.includes('*')
    ? [fieldInvalid(path, [...values], `if '*' is present, must not specify other ${others}`)]
    : []
}

function checkResourceRule(rule: ValueObject, path: string): FieldError[] {
  const supply = (what: string): string => `resource rules must supply at least one ${what}`
  const namespaces = stringsAt(rule, 'namespaces')
  const isNowhere = namespaces.length === 0 && rule['clusterScope'] !== true
  return [
    ...checkVerbs(rule, path),
    ...checkSome(stringsAt(rule, 'apiGroups'), `${path}.apiGroups`, supply('api group'), 'api groups'),
    ...checkSome(stringsAt(rule, 'resources'), `${path}.resources`, supply('resource'), 'resources'),
    ...(namespaces.length > 0 || isNowhere
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
  const told = (why: string): FieldError[] => [fieldInvalid(path, url, why)]
  if (url === '') return told('must not be empty')
  if (!url.startsWith('/')) return told('must start with slash')
  if (url.includes(' ')) return told('must not contain white-space')
  if (url.includes('//')) return told('must not contain double slash')
  const star = url.indexOf('*')
  return star === -1 || (star === url.length - 1 && url.endsWith('/*'))
    ? []
    : told('wildcard can only do suffix matching')
}

// ---- priority levels

const MAX_QUEUES = 10_000_000

export const priorityLevelValidation = validationBy(level => {
  const spec = objectAt(level, 'spec')
  return [
    ...checkMeta(level, { namespaced: false }),
    ...checkLevelSpec(spec, nameOf(level)),
    ...checkFixedLevel(spec, nameOf(level)),
    ...checkConditionTypes(objectAt(level, 'status')),
  ]
})

/** How much of its room the exempt level has, and lends, is for each cluster to say. */
function checkFixedLevel(spec: ValueObject, name: string): FieldError[] {
  const typeName = 'flowcontrol/v1.PriorityLevelConfigurationSpec'
  const compared =
    name === 'exempt' && has(spec, 'exempt') ? { ...spec, exempt: MANDATORY_LEVELS['exempt']!['exempt']! } : spec
  return checkFixed(name, compared, MANDATORY_LEVELS, typeName)
}

function checkLevelSpec(spec: ValueObject, name: string): FieldError[] {
  const type = stringAt(spec, 'type')
  const isOdd = (name === 'exempt') !== (type === 'Exempt')
  const errors =
    isOdd && (type === 'Exempt' || name === 'exempt')
      ? [fieldInvalid('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'")]
      : []
  switch (type) {
    case 'Exempt':
      if (has(spec, 'limited')) errors.push(fieldForbidden('spec.limited', 'must be nil if the type is not Limited'))
      if (!has(spec, 'exempt'))
        return [...errors, fieldRequired('spec.exempt', 'must not be empty when type is Exempt')]
      return [...errors, ...checkShares(objectAt(spec, 'exempt'), 'spec.exempt')]
    case 'Limited':
      if (has(spec, 'exempt')) errors.push(fieldForbidden('spec.exempt', 'must be nil if the type is Limited'))
      if (!has(spec, 'limited')) {
        return [...errors, fieldRequired('spec.limited', 'must not be empty when type is Limited')]
      }
      return [...errors, ...checkLimited(objectAt(spec, 'limited'), 'spec.limited')]
    default:
      return [...errors, ...checkOneOf(type, ['Exempt', 'Limited'], 'spec.type', { required: true })]
  }
}

function checkShares(room: ValueObject, path: string): FieldError[] {
  const shares = numberAt(room, 'nominalConcurrencyShares')
  const lendable = numberOrNone(room, 'lendablePercent') ?? 0
  return [
    ...(shares < 0 ? [fieldInvalid(`${path}.nominalConcurrencyShares`, shares, 'must be a non-negative integer')] : []),
    ...(lendable < 0 || lendable > 100
      ? [fieldInvalid(`${path}.lendablePercent`, lendable, 'must be between 0 and 100, inclusive')]
      : []),
  ]
}

function checkLimited(limited: ValueObject, path: string): FieldError[] {
  const borrowing = numberOrNone(limited, 'borrowingLimitPercent') ?? 0
  return [
    ...checkShares(limited, path),
    ...(borrowing < 0
      ? [fieldInvalid(`${path}.borrowingLimitPercent`, borrowing, 'if specified, must be a non-negative integer')]
      : []),
    ...checkResponse(objectAt(limited, 'limitResponse'), `${path}.limitResponse`),
  ]
}

function checkResponse(response: ValueObject, path: string): FieldError[] {
  const queuing = objectOrNone(response, 'queuing')
  const at = `${path}.queuing`
  switch (stringAt(response, 'type')) {
    case 'Reject':
      return queuing === undefined
        ? []
        : [fieldForbidden(at, 'must be nil if limited.limitResponse.type is not Limited')]
    case 'Queue':
      return queuing === undefined
        ? [fieldRequired(at, 'must not be empty if limited.limitResponse.type is Limited')]
        : checkQueuing(queuing, at)
    default:
      return checkOneOf(stringAt(response, 'type'), ['Queue', 'Reject'], `${path}.type`, { required: true })
  }
}

function checkQueuing(queuing: ValueObject, path: string): FieldError[] {
  const [queues, hand, length] = ['queues', 'handSize', 'queueLengthLimit'].map(field => numberAt(queuing, field)) as [
    number,
    number,
    number,
  ]
  const told = (field: string, value: number, why: string): FieldError[] => [
    fieldInvalid(`${path}.${field}`, value, why),
  ]
  return [
    ...(length <= 0 ? told('queueLengthLimit', length, 'must be positive') : []),
    ...(queues <= 0 ? told('queues', queues, 'must be positive') : []),
    ...(queues > MAX_QUEUES ? told('queues', queues, `must not be greater than ${MAX_QUEUES}`) : []),
    ...(hand <= 0
      ? told('handSize', hand, 'must be positive')
      : hand > queues
        ? told('handSize', hand, `should not be greater than queues (${queues})`)
        : checkEntropy(queues, hand, `${path}.handSize`)),
  ]
}

const HASH_BITS = 60

/** A hash must be able to tell all hands of queues apart. */
function checkEntropy(queues: number, hand: number, path: string): FieldError[] {
  if (Math.ceil(Math.log2(queues) * hand) <= HASH_BITS) return []
  const why = `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${HASH_BITS}`
  return [fieldInvalid(path, hand, why)]
}
