// Ingress: which HTTP hosts and paths lead to which services.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import {
  checkDns1035Label,
  checkDnsLabel,
  checkDnsSubdomain,
  checkPortName,
  checkWildcardDnsSubdomain,
  type NameRule,
} from '../../meta/object/names.js'
import { has, mapAt, numberAt, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { type ValueObject } from '../../meta/values/value.js'
import { defineKind, type Warnings } from '../common/define-kind.js'
import { checkPortNumber, checkText } from '../common/field-checks.js'
import { checkIp, familyOf } from '../common/ip-rules.js'
import { loadBalancerWarnings } from '../common/ip-warnings.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, each, eachString, field, format, optional, type Rule, required, run, union } from '../common/rules.js'
import { counted } from '../common/strategies.js'
import { ageOf, NONE, nameOf, type TableRow } from '../common/table-cells.js'
import { type Validation, validationRules } from '../common/validation.js'
import { kindAndName } from './object-reference.js'

// ---- backends

const portErrors = (service: ValueObject, backendPath: string): FieldError[] => {
  const port = objectAt(service, 'port')
  const [name, number] = [stringAt(port, 'name'), numberAt(port, 'number')]
  const at = (member: string): string => `${backendPath}.service.port.${member}`
  if (name !== '' && number !== 0) return [fieldInvalid(backendPath, '', 'cannot set both port name & port number')]
  if (name !== '') return checkText(name, checkPortName, at('name'))
  return number === 0
    ? [fieldRequired(backendPath, 'port name or number is required')]
    : checkPortNumber(number, at('number'))
}

/** `serviceName`: the rule for names of services. */
const backendRules = (serviceName: NameRule): readonly Rule[] => [
  check((backend, path) => {
    const [hasResource, hasService] = [has(backend, 'resource'), has(backend, 'service')]
    if (hasResource && hasService) return [fieldInvalid(path, '', 'cannot set both resource and service backends')]
    if (hasResource) return run(kindAndName, objectAt(backend, 'resource'), undefined, childPath(path, 'resource'))
    if (!hasService) return [fieldInvalid(path, '', 'resource or service backend is required')]
    const service = objectAt(backend, 'service')
    const name = run([format('name', serviceName, { required: true })], service, undefined, `${path}.service`)
    return [...name, ...portErrors(service, path)]
  }),
]

// ---- rules

const checkHost = (host: string, path: string): FieldError[] =>
  checkText(host, host.includes('*') ? checkWildcardDnsSubdomain : checkDnsSubdomain, path)

const notAnAddress = (host: string, path: string): FieldError[] =>
  familyOf(host) === undefined ? [] : [fieldInvalid(path, host, 'must be a DNS name, not an IP address')]

const absolutePath = check((path, at) =>
  stringAt(path, 'path').startsWith('/')
    ? []
    : [fieldInvalid(childPath(at, 'path'), stringAt(path, 'path'), 'must be an absolute path')],
)

const FORBIDDEN_PARTS = ['//', '/./', '/../', '%2f', '%2F']
const FORBIDDEN_ENDS = ['/..', '/.']

const plainPath = check((object, at) => {
  const path = stringAt(object, 'path')
  const invalid = (why: string): FieldError => fieldInvalid(childPath(at, 'path'), path, why)
  return [
    ...FORBIDDEN_PARTS.filter(part => path.includes(part)).map(part => invalid(`must not contain '${part}'`)),
    ...FORBIDDEN_ENDS.filter(end => path.endsWith(end)).map(end => invalid(`cannot end with '${end}'`)),
  ]
})

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix']

const pathRules = (backendOfPath: Rule): readonly Rule[] => [
  union(
    'pathType',
    {
      Exact: [absolutePath, plainPath, backendOfPath],
      Prefix: [absolutePath, plainPath, backendOfPath],
      ImplementationSpecific: [
        (path, old, at, errors) => {
          if (stringAt(path, 'path') !== '') absolutePath(path, old, at, errors)
        },
        backendOfPath,
      ],
    },
    [
      (path, old, at, errors) => {
        const pathType = childPath(at, 'pathType')
        if (!has(path, 'pathType')) {
          errors.push(fieldRequired(pathType, 'pathType must be specified'))
          return
        }
        errors.push(fieldNotSupported(pathType, stringAt(path, 'pathType'), PATH_TYPES))
        backendOfPath(path, old, at, errors)
      },
    ],
  ),
]

const httpRules = (serviceName: NameRule): readonly Rule[] => [
  optional('http', [required('paths'), each('paths', pathRules(field('backend', backendRules(serviceName))))]),
]

const STRICT_HTTP = httpRules(checkDns1035Label)

const hasWildcard = (rule: ValueObject): boolean => stringAt(rule, 'host').includes('*')

/** The paths of hosts with a wildcard were not always checked: a stored ingress with a wrong one may have others. */
const hasWrongWildcardRule = (spec: ValueObject): boolean =>
  objectsAt(spec, 'rules').some(rule => hasWildcard(rule) && run(STRICT_HTTP, rule).length > 0)

const hostRule = check((rule, path) => {
  const host = stringAt(rule, 'host')
  const at = childPath(path, 'host')
  return host === '' ? [] : [...notAnAddress(host, at), ...checkHost(host, at)]
})

const rules =
  (http: readonly Rule[]): Rule =>
  (spec, old, path, errors) => {
    const isTolerant = old !== undefined && hasWrongWildcardRule(old)
    each('rules', [
      hostRule,
      (rule, before, at, found) => {
        if (isTolerant && hasWildcard(rule)) return
        for (const ofHttp of http) ofHttp(rule, before, at, found)
      },
    ])(spec, old, path, errors)
  }

// ---- TLS

/** A stored ingress with the name of a secret that is no valid name may have others. */
const tls: Rule = (spec, old, path, errors) => {
  const isTolerant =
    old !== undefined &&
    objectsAt(old, 'tls').some(
      ({ secretName = '' }) =>
        typeof secretName === 'string' && secretName !== '' && checkDnsSubdomain(secretName).length > 0,
    )
  each('tls', [eachString('hosts', checkHost), ...(isTolerant ? [] : [format('secretName', checkDnsSubdomain)])])(
    spec,
    old,
    path,
    errors,
  )
}

// ---- the whole

const specRules = (serviceName: NameRule): readonly Rule[] => [
  check((spec, path) =>
    objectsAt(spec, 'rules').length > 0 || has(spec, 'defaultBackend')
      ? []
      : [fieldInvalid(path, asStruct(asGiven(spec, 'rules')), 'either `defaultBackend` or `rules` must be specified')],
  ),
  optional('defaultBackend', backendRules(serviceName)),
  rules(httpRules(serviceName)),
  tls,
  check((spec, path) =>
    has(spec, 'ingressClassName')
      ? checkText(stringAt(spec, 'ingressClassName'), checkDnsSubdomain, childPath(path, 'ingressClassName'))
      : [],
  ),
]

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'

const annotationOf = (ingress: ValueObject): string | undefined => {
  const annotations = mapAt(objectAt(ingress, 'metadata'), 'annotations')
  return Object.hasOwn(annotations, CLASS_ANNOTATION) ? annotations[CLASS_ANNOTATION] : undefined
}

const sameClass = check(ingress => {
  const annotation = annotationOf(ingress)
  const spec = objectAt(ingress, 'spec')
  if (annotation === undefined || !has(spec, 'ingressClassName')) return []
  if (annotation === stringAt(spec, 'ingressClassName')) return []
  const path = `annotations.${CLASS_ANNOTATION}`
  return [fieldInvalid(path, annotation, 'must match `ingressClassName` when both are specified')]
})

const RELAXED = specRules(checkDnsLabel)
const STRICT = specRules(checkDns1035Label)

/** Names that only the newer rule accepts. */
const isRelaxedName = (name: string): boolean => checkDnsLabel(name).length === 0 && checkDns1035Label(name).length > 0

/** A stored ingress that leads to a service with such a name may lead to others. */
const hasRelaxedName = (spec: ValueObject): boolean =>
  [
    objectAt(spec, 'defaultBackend'),
    ...objectsAt(spec, 'rules')
      .flatMap(rule => objectsAt(objectAt(rule, 'http'), 'paths'))
      .map(path => objectAt(path, 'backend')),
  ].some(backend => isRelaxedName(stringAt(objectAt(backend, 'service'), 'name')))

const ratcheted: Rule = (spec, old, path, errors) => {
  const chosen = old !== undefined && hasRelaxedName(old) ? RELAXED : STRICT
  for (const rule of chosen) rule(spec, old, path, errors)
}

// ---- status

/** Addresses that the stored status has already are accepted. */
const loadBalancer = check((status, path, old) => {
  const before = new Set(old === undefined ? [] : objectsAt(old, 'ingress').map(point => stringAt(point, 'ip')))
  const address = check((point, at) => {
    const ip = stringAt(point, 'ip')
    return ip === '' || before.has(ip) ? [] : checkIp(ip, childPath(at, 'ip'))
  })
  const hostname = check((point, at) => {
    const name = stringAt(point, 'hostname')
    const namePath = childPath(at, 'hostname')
    return name === '' ? [] : [...checkText(name, checkDnsSubdomain, namePath), ...notAnAddress(name, namePath)]
  })
  return run([each('ingress', [address, hostname])], status, undefined, path)
})

// ---- warnings

const warnings: Warnings = (ingress, old) => {
  if (old !== undefined) return []
  const isOld = annotationOf(ingress) !== undefined && !has(objectAt(ingress, 'spec'), 'ingressClassName')
  return isOld ? [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`] : []
}

// ---- Table

/** How many hosts a cell shows. */
const MAX_HOSTS = 3

function hostsCell(spec: ValueObject): string {
  const given = objectsAt(spec, 'rules')
  const hosts = given.map(rule => stringAt(rule, 'host'))
  const shown: string[] = []
  let isMore = false
  for (const host of hosts) {
    if (shown.length === MAX_HOSTS) isMore = true
    if (!isMore && host !== '') shown.push(host)
  }
  if (shown.length === 0) return '*'
  return isMore ? `${shown.join(',')} + ${given.length - MAX_HOSTS} more...` : shown.join(',')
}

function addressCell(status: ValueObject): string {
  const points = objectsAt(objectAt(status, 'loadBalancer'), 'ingress')
  const addresses = points.map(point => stringAt(point, 'ip') || stringAt(point, 'hostname')).filter(Boolean)
  return [...new Set(addresses)].toSorted().join(',')
}

const row: TableRow = (ingress, now) => {
  const spec = objectAt(ingress, 'spec')
  return [
    nameOf(ingress),
    has(spec, 'ingressClassName') ? stringAt(spec, 'ingressClassName') : NONE,
    hostsCell(spec),
    addressCell(objectAt(ingress, 'status')),
    objectsAt(spec, 'tls').length > 0 ? '80, 443' : '80',
    ageOf(ingress, now),
  ]
}

function validationOf(ofSpec: readonly Rule[]): Validation {
  const common = [metadata({ namespaced: true }), field('spec', ofSpec)]
  return validationRules({
    create: [...common, sameClass],
    update: [metadataUpdate, ...common],
    status: [metadataUpdate, field('status', [field('loadBalancer', [loadBalancer])])],
  })
}

export const ingress = defineKind('networking.k8s.io/v1', 'Ingress', {
  strategy: counted('networking/v1.IngressStatus'),
  validation: validationOf(RELAXED),
  changedBy: { RelaxedServiceNameValidation: { validation: validationOf([ratcheted]) } },
  warnings,
  statusWarnings: loadBalancerWarnings,
  table: row,
  keyPrefix: '/ingress/',
})
