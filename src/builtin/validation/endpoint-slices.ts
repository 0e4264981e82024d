// Endpoint slices: some of the endpoints of a service, all with addresses of one type and with the same ports.
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
import { has, mapAt, objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { checkImmutable, checkOneOf, checkText } from '../common/field-checks.js'
import { checkIp, checkRoutableIp, familyOf } from '../common/ip-rules.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'
import { PROTOCOLS } from '../core/endpoints.js'

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6']
const MAX_ENDPOINTS = 1000
const MAX_ADDRESSES = 100
const MAX_PORTS = 20_000
const MAX_TOPOLOGY_LABELS = 16
const MAX_HINTS = 8

/** Endpoints that were accepted before, and are as they were, stay so. */
const checkSlice = (slice: ValueObject, old?: ValueObject): FieldError[] => [
  ...checkMeta(slice, { namespaced: true }),
  ...checkOneOf(stringAt(slice, 'addressType'), ADDRESS_TYPES, 'addressType', { required: true }),
  ...(old !== undefined && equalValues(slice['endpoints'], old['endpoints']) ? [] : checkEndpoints(slice)),
  ...checkPorts(slice),
]

export const endpointSliceValidation: Validation = {
  create: slice => checkSlice(slice),
  update: (slice, old) => [
    ...checkSlice(slice, old),
    ...checkMetaUpdate(slice, old),
    ...checkImmutable(slice, old, 'addressType'),
  ],
}

function checkEndpoints(slice: ValueObject): FieldError[] {
  const endpoints = objectsAt(slice, 'endpoints')
  if (endpoints.length > MAX_ENDPOINTS) return [fieldTooMany('endpoints', endpoints.length, MAX_ENDPOINTS)]
  const type = stringAt(slice, 'addressType')
  return endpoints.flatMap((endpoint, i) => checkEndpoint(endpoint, type, indexPath('endpoints', i)))
}

function checkEndpoint(endpoint: ValueObject, type: string, path: string): FieldError[] {
  const at = (field: string): string => childPath(path, field)
  const named = (field: string, rule: NameRule): FieldError[] =>
    has(endpoint, field) ? checkText(stringAt(endpoint, field), rule, at(field)) : []
  const topology = mapAt(endpoint, 'deprecatedTopology')
  const topologySize = Object.keys(topology).length
  return [
    ...checkAddresses(stringsAt(endpoint, 'addresses'), type, at('addresses')),
    ...named('nodeName', checkDnsSubdomain),
    ...(topologySize > MAX_TOPOLOGY_LABELS
      ? [fieldTooMany(at('deprecatedTopology'), topologySize, MAX_TOPOLOGY_LABELS)]
      : []),
    ...checkLabels(topology, at('deprecatedTopology')),
    ...named('hostname', checkDnsLabel),
    ...checkHints(objectAt(endpoint, 'hints'), 'forZones', checkLabelValue, at('hints')),
    ...checkHints(objectAt(endpoint, 'hints'), 'forNodes', checkDnsSubdomain, at('hints')),
  ]
}

function checkAddresses(addresses: readonly string[], type: string, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (addresses.length === 0) errors.push(fieldRequired(path, 'must contain at least 1 address'))
  if (addresses.length > MAX_ADDRESSES) errors.push(fieldTooMany(path, addresses.length, MAX_ADDRESSES))
  addresses.forEach((address, i) => {
    const at = indexPath(path, i)
    if (type === 'FQDN') errors.push(...checkDomainName(address, at))
    if (type === 'IPv4' || type === 'IPv6') errors.push(...checkAddress(address, type, path, at))
  })
  return errors
}

/** That an address is of the other family is told of the list as a whole. */
function checkAddress(address: string, family: 'IPv4' | 'IPv6', listPath: string, path: string): FieldError[] {
  const errors = checkIp(address, path)
  if (errors.length > 0) return errors
  return [
    ...(familyOf(address) === family ? [] : [fieldInvalid(listPath, address, `must be an ${family} address`)]),
    ...checkRoutableIp(address, path),
  ]
}

/** A name of the DNS with at least two parts; the dot of the root may stand at its end. */
function checkDomainName(name: string, path: string): FieldError[] {
  if (name === '') return [fieldRequired(path)]
  const told = (value: string, why: string): FieldError[] => [fieldInvalid(path, value, why)]
  const bare = name.endsWith('.') ? name.slice(0, -1) : name
  const errors = checkDnsSubdomain(bare)
  if (errors.length > 0) return told(bare, errors.join(','))
  const labels = bare.split('.')
  if (labels.length < 2) return told(bare, 'should be a domain with at least two segments separated by dots')
  return labels.flatMap(label => checkText(label, checkDnsLabel, path))
}

function checkHints(hints: ValueObject, field: string, rule: NameRule, path: string): FieldError[] {
  const all = objectsAt(hints, field)
  const listPath = childPath(path, field)
  if (all.length > MAX_HINTS) return [fieldTooMany(listPath, all.length, MAX_HINTS)]
  return checkNames(all, listPath, name => rule(name))
}

/** Names that no two may have. */
function checkNames(items: readonly ValueObject[], path: string, rule: NameRule): FieldError[] {
  const seen = new Set<string>()
  return items.flatMap((item, i) => {
    const name = stringAt(item, 'name')
    const at = childPath(indexPath(path, i), 'name')
    const repeated = seen.has(name) ? [fieldDuplicate(at, name)] : []
    seen.add(name)
    return [...repeated, ...checkText(name, rule, at)]
  })
}

function checkPorts(slice: ValueObject): FieldError[] {
  const ports = objectsAt(slice, 'ports')
  if (ports.length > MAX_PORTS) return [fieldTooMany('ports', ports.length, MAX_PORTS)]
  return [
    ...checkNames(ports, 'ports', name => (name === '' ? [] : checkDnsLabel(name))),
    ...ports.flatMap((port, i) => checkPort(port, indexPath('ports', i))),
  ]
}

const checkPort = (port: ValueObject, path: string): FieldError[] => [
  ...checkOneOf(stringAt(port, 'protocol'), PROTOCOLS, childPath(path, 'protocol')),
  ...(has(port, 'appProtocol')
    ? checkText(stringAt(port, 'appProtocol'), checkQualifiedName, childPath(path, 'appProtocol'))
    : []),
]
