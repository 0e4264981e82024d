// Endpoints: addresses with the ports that all of them have.
import { childPath, fieldRequired } from '../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from '../../meta/object/names.js'
import { mapAt, numberAt, objectAt, objectsAt, setDefault, stringAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkPortNumber } from '../common/field-checks.js'
import { checkIp, checkRoutableIp } from '../common/ip-rules.js'
import { ipWarnings } from '../common/ip-warnings.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, each, format, formatIfSet, oneOf, type Rule, run, when } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { ageOf, NONE, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

/** The protocols of ports, in the order of messages. */
export const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

// ---- validation

const addressRules: readonly Rule[] = [
  check((address, path) => checkIp(stringAt(address, 'ip'), childPath(path, 'ip'))),
  format('hostname', checkDnsLabel),
  formatIfSet('nodeName', checkDnsSubdomain),
  check((address, path) => checkRoutableIp(stringAt(address, 'ip'), childPath(path, 'ip'))),
]

const portRules: readonly Rule[] = [
  check((port, path) => checkPortNumber(numberAt(port, 'port'), childPath(path, 'port'))),
  oneOf('protocol', PROTOCOLS, { required: true }),
  formatIfSet('appProtocol', checkQualifiedName),
]

/** Of several ports each needs a name. */
const ports = check((subset, path) => {
  const nameRequired = objectsAt(subset, 'ports').length > 1
  return run(
    [each('ports', [format('name', checkDnsLabel, { required: nameRequired }), ...portRules])],
    subset,
    undefined,
    path,
  )
})

const subsetRules: readonly Rule[] = [
  check((subset, path) =>
    objectsAt(subset, 'addresses').length === 0 && objectsAt(subset, 'notReadyAddresses').length === 0
      ? [fieldRequired(path, 'must specify `addresses` or `notReadyAddresses`')]
      : [],
  ),
  each('addresses', addressRules),
  each('notReadyAddresses', addressRules),
  ports,
]

const subsets = each('subsets', subsetRules)

// ---- warnings

/** The endpoints controller writes canonical addresses. */
const CONTROLLER = 'endpoints-controller.k8s.io'

function warnings(object: ValueObject): string[] {
  if (mapAt(objectAt(object, 'metadata'), 'labels')['endpoints.kubernetes.io/managed-by'] === CONTROLLER) return []
  return objectsAt(object, 'subsets').flatMap((subset, i) =>
    ['addresses', 'notReadyAddresses'].flatMap(name =>
      objectsAt(subset, name).flatMap((address, j) =>
        ipWarnings(stringAt(address, 'ip'), `subsets[${i}].${name}[${j}].ip`),
      ),
    ),
  )
}

// ---- Table

/** How many endpoints a cell shows. */
const MAX_SHOWN = 3

function endpointsCell(endpoints: ValueObject): string {
  const given = objectsAt(endpoints, 'subsets')
  if (given.length === 0) return NONE
  const all = given.flatMap(subset => {
    const addresses = objectsAt(subset, 'addresses').map(address => stringAt(address, 'ip'))
    const portsOfAll = objectsAt(subset, 'ports')
    if (portsOfAll.length === 0) return addresses
    return portsOfAll.flatMap(port => addresses.map(address => hostAndPort(address, numberAt(port, 'port'))))
  })
  const shown = all.slice(0, MAX_SHOWN).join(',')
  return all.length > MAX_SHOWN ? `${shown} + ${all.length - MAX_SHOWN} more...` : shown
}

const hostAndPort = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`

export const endpoints = defineKind('v1', 'Endpoints', {
  defaults: object => {
    for (const subset of objectsAt(object, 'subsets')) {
      for (const port of objectsAt(subset, 'ports')) setDefault(port, 'protocol', 'TCP')
    }
  },
  strategy: {
    prepareForUpdate: keepGeneration,
    allowCreateOnUpdate: true,
    deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  },
  validation: validationRules({
    create: [metadata({ namespaced: true }), subsets],
    update: [
      metadataUpdate,
      metadata({ namespaced: true }),
      // ratcheting: unchanged subsets stay valid
      when((object, old) => !equalValues(object['subsets'], old?.['subsets']), [subsets]),
    ],
  }),
  warnings,
  table: (object, now) => [nameOf(object), endpointsCell(object), ageOf(object, now)],
  keyPrefix: '/services/endpoints/',
})
