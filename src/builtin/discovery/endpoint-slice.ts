// EndpointSlice: some of the endpoints of a service, all with addresses of one type and with the same ports.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabelValue,
  checkQualifiedName,
  type NameRule,
} from '../../meta/object/names.js'
import { checkLabels } from '../../meta/selectors/label-selectors.js'
import { has, mapAt, numberAt, objectAt, objectsAt, setDefault, stringAt, stringsAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { defineKind, type Warnings } from '../common/define-kind.js'
import { checkText } from '../common/field-checks.js'
import { checkCanonicalIp, checkIp, checkRoutableIp, familyOf } from '../common/ip-rules.js'
import { ipWarnings } from '../common/ip-warnings.js'
import { metadata } from '../common/metadata.js'
import { check, each, field, immutable, oneOf, type Rule, run, when } from '../common/rules.js'
import {
  countGeneration,
  inTurn,
  keepGeneration,
  type PrepareForUpdate,
  same,
  startGeneration,
} from '../common/strategies.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { PROTOCOLS } from '../core/endpoints.js'

// ---- defaults and strategy

function defaults(slice: ValueObject): void {
  for (const port of objectsAt(slice, 'ports')) {
    setDefault(port, 'name', '', false)
    setDefault(port, 'protocol', 'TCP', false)
  }
}

const COUNTED_FIELDS = ['addressType', 'endpoints', 'ports']

/** Clients find slices by labels, so a change of labels is a new generation too. */
const countChanges: PrepareForUpdate = (slice, old) => {
  const unchanged =
    COUNTED_FIELDS.every(name => same(slice, old, name)) &&
    same(objectAt(slice, 'metadata'), objectAt(old, 'metadata'), 'labels')
  if (!unchanged) countGeneration(slice, old)
}

/** This field could be written only in v1beta1, which is no longer served. */
function dropTopology(slice: ValueObject): void {
  for (const endpoint of objectsAt(slice, 'endpoints')) delete endpoint['deprecatedTopology']
}

const dropTopologyOfChanged: PrepareForUpdate = (slice, old) => {
  if (!same(slice, old, 'endpoints')) dropTopology(slice)
}

// ---- addresses

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6']
const MAX_ENDPOINTS = 1000
const MAX_ADDRESSES = 100

const addresses = (type: string): Rule =>
  check((endpoint, path) => {
    const given = stringsAt(endpoint, 'addresses')
    const at = childPath(path, 'addresses')
    const errors: FieldError[] = []
    if (given.length === 0) errors.push(fieldRequired(at, 'must contain at least 1 address'))
    if (given.length > MAX_ADDRESSES) errors.push(fieldTooMany(at, given.length, MAX_ADDRESSES))
    given.forEach((address, i) => {
      if (type === 'FQDN') errors.push(...checkDomainName(address, indexPath(at, i)))
      if (type === 'IPv4' || type === 'IPv6') errors.push(...checkAddress(address, type, at, indexPath(at, i)))
    })
    return errors
  })

/** An address of the other family is an error of the list. */
function checkAddress(address: string, family: 'IPv4' | 'IPv6', listPath: string, path: string): FieldError[] {
  const errors = family === 'IPv6' ? checkCanonicalIp(address, path) : checkIp(address, path)
  if (errors.length > 0) return errors
  return [
    ...(familyOf(address) === family ? [] : [fieldInvalid(listPath, address, `must be an ${family} address`)]),
    ...checkRoutableIp(address, path),
  ]
}

/** A DNS name of at least two labels; the dot of the root may stand at its end. */
function checkDomainName(name: string, path: string): FieldError[] {
  if (name === '') return [fieldRequired(path)]
  const bare = name.endsWith('.') ? name.slice(0, -1) : name
  const errors = checkDnsSubdomain(bare)
  if (errors.length > 0) return [fieldInvalid(path, bare, errors.join(','))]
  const labels = bare.split('.')
  if (labels.length < 2) {
    return [fieldInvalid(path, bare, 'should be a domain with at least two segments separated by dots')]
  }
  return labels.flatMap(label => checkText(label, checkDnsLabel, path))
}

// ---- endpoints

const MAX_TOPOLOGY_LABELS = 16
const MAX_HINTS = 8

/** The field, if it is there, keeps to the rule; an empty string counts as there. */
const givenName = (name: string, rule: NameRule): Rule =>
  check((object, path) => (has(object, name) ? checkText(stringAt(object, name), rule, childPath(path, name)) : []))

const topology = check((endpoint, path) => {
  const labels = mapAt(endpoint, 'deprecatedTopology')
  const at = childPath(path, 'deprecatedTopology')
  const size = Object.keys(labels).length
  return [
    ...(size > MAX_TOPOLOGY_LABELS ? [fieldTooMany(at, size, MAX_TOPOLOGY_LABELS)] : []),
    ...checkLabels(labels, at),
  ]
})

/** Items with different names. */
const uniqueNames = (list: string, rule: NameRule, most: number): Rule =>
  check((object, path) => {
    const items = objectsAt(object, list)
    const listPath = childPath(path, list)
    if (items.length > most) return [fieldTooMany(listPath, items.length, most)]
    const seen = new Set<string>()
    const errors: FieldError[] = []
    items.forEach((item, i) => {
      const name = stringAt(item, 'name')
      const at = childPath(indexPath(listPath, i), 'name')
      if (seen.has(name)) errors.push(fieldDuplicate(at, name))
      seen.add(name)
      errors.push(...checkText(name, rule, at))
    })
    return errors
  })

const endpointRules = (type: string): readonly Rule[] => [
  addresses(type),
  givenName('nodeName', checkDnsSubdomain),
  topology,
  givenName('hostname', checkDnsLabel),
  field('hints', [
    uniqueNames('forZones', checkLabelValue, MAX_HINTS),
    uniqueNames('forNodes', checkDnsSubdomain, MAX_HINTS),
  ]),
]

const endpoints = check(slice => {
  const count = objectsAt(slice, 'endpoints').length
  if (count > MAX_ENDPOINTS) return [fieldTooMany('endpoints', count, MAX_ENDPOINTS)]
  return run([each('endpoints', endpointRules(stringAt(slice, 'addressType')))], slice)
})

// ---- ports

const MAX_PORTS = 20_000

const portName: NameRule = name => (name === '' ? [] : checkDnsLabel(name))

const ports: readonly Rule[] = [
  uniqueNames('ports', portName, MAX_PORTS),
  when(
    slice => objectsAt(slice, 'ports').length <= MAX_PORTS,
    [each('ports', [oneOf('protocol', PROTOCOLS), givenName('appProtocol', checkQualifiedName)])],
  ),
]

/** Endpoints that do not change stay accepted. */
const sliceRules: readonly Rule[] = [
  metadata({ namespaced: true }),
  oneOf('addressType', ADDRESS_TYPES, { required: true }),
  when((slice, old) => old === undefined || !equalValues(slice['endpoints'], old['endpoints']), [endpoints]),
  ...ports,
]

// ---- warnings

/** These controllers write canonical addresses. */
const CONTROLLERS: ReadonlySet<string> = new Set([
  'endpointslice-controller.k8s.io',
  'endpointslicemirroring-controller.k8s.io',
])

const warnings: Warnings = (slice, old) => {
  const isDeprecated = old === undefined && stringAt(slice, 'addressType') === 'FQDN'
  const manager = mapAt(objectAt(slice, 'metadata'), 'labels')['endpointslice.kubernetes.io/managed-by'] ?? ''
  const given = CONTROLLERS.has(manager) ? [] : objectsAt(slice, 'endpoints')
  return [
    ...(isDeprecated ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
    ...given.flatMap((endpoint, i) =>
      stringsAt(endpoint, 'addresses').flatMap((address, j) => ipWarnings(address, `endpoints[${i}].addresses[${j}]`)),
    ),
  ]
}

// ---- Table

/** How many ports or addresses a cell shows. */
const MAX_SHOWN = 3

function printSome(texts: readonly string[]): string {
  if (texts.length === 0) return '<unset>'
  const shown = texts.slice(0, MAX_SHOWN).join(',')
  return texts.length > MAX_SHOWN ? `${shown} + ${texts.length - MAX_SHOWN} more...` : shown
}

const printPort = (port: ValueObject): string =>
  has(port, 'port') ? String(numberAt(port, 'port')) : has(port, 'name') ? stringAt(port, 'name') : '*'

const row: TableRow = (slice, now) => [
  nameOf(slice),
  stringAt(slice, 'addressType'),
  printSome(objectsAt(slice, 'ports').map(printPort)),
  printSome(objectsAt(slice, 'endpoints').flatMap(endpoint => stringsAt(endpoint, 'addresses'))),
  ageOf(slice, now),
]

export const endpointSlice = defineKind('discovery.k8s.io/v1', 'EndpointSlice', {
  defaults,
  strategy: {
    prepareForCreate: slice => {
      startGeneration(slice)
      dropTopology(slice)
    },
    prepareForUpdate: inTurn(keepGeneration, countChanges, dropTopologyOfChanged),
  },
  validation: validationRules({
    create: sliceRules,
    update: [...sliceRules, immutable('addressType', { typed: true })],
  }),
  warnings,
  table: row,
})
