// Endpoints: addresses with the ports that all of them offer.
import { childPath, type FieldError, fieldRequired, indexPath } from '../../meta/errors/field-errors.js'
import { checkDnsLabel, checkDnsSubdomain } from '../../meta/object/names.js'
import { numberAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { checkOneOf, checkPortNumber, checkText } from '../common/field-checks.js'
import { checkIp, checkRoutableIp } from '../common/ip-rules.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

export const endpointsValidation: Validation = {
  create: endpoints => [...checkMeta(endpoints, { namespaced: true }), ...checkSubsets(endpoints)],
  update: (endpoints, old) => [
    ...checkMetaUpdate(endpoints, old),
    ...checkMeta(endpoints, { namespaced: true }),
    // What was accepted before, and is as it was, stays so.
    ...(equalValues(endpoints['subsets'], old['subsets']) ? [] : checkSubsets(endpoints)),
  ],
}

const checkSubsets = (endpoints: ValueObject): FieldError[] =>
  objectsAt(endpoints, 'subsets').flatMap((subset, i) => checkSubset(subset, indexPath('subsets', i)))

function checkSubset(subset: ValueObject, path: string): FieldError[] {
  const addresses = objectsAt(subset, 'addresses')
  const notReady = objectsAt(subset, 'notReadyAddresses')
  const errors: FieldError[] = []
  if (addresses.length === 0 && notReady.length === 0) {
    errors.push(fieldRequired(path, 'must specify `addresses` or `notReadyAddresses`'))
  }
  const checkAll = (all: readonly ValueObject[], name: string): FieldError[] =>
    all.flatMap((address, i) => checkAddress(address, indexPath(childPath(path, name), i)))
  const ports = objectsAt(subset, 'ports')
  return [
    ...errors,
    ...checkAll(addresses, 'addresses'),
    ...checkAll(notReady, 'notReadyAddresses'),
    ...ports.flatMap((port, i) => checkPort(port, ports.length > 1, indexPath(childPath(path, 'ports'), i))),
  ]
}

function checkAddress(address: ValueObject, path: string): FieldError[] {
  const ip = stringAt(address, 'ip')
  const hostname = stringAt(address, 'hostname')
  const nodeName = stringAt(address, 'nodeName')
  const at = childPath(path, 'ip')
  return [
    ...checkIp(ip, at),
    ...(hostname === '' ? [] : checkText(hostname, checkDnsLabel, childPath(path, 'hostname'))),
    ...(nodeName === '' ? [] : checkText(nodeName, checkDnsSubdomain, childPath(path, 'nodeName'))),
    ...checkRoutableIp(ip, at),
  ]
}

function checkPort(port: ValueObject, nameRequired: boolean, path: string): FieldError[] {
  const name = stringAt(port, 'name')
  const at = childPath(path, 'name')
  return [
    ...(name === '' ? (nameRequired ? [fieldRequired(at)] : []) : checkText(name, checkDnsLabel, at)),
    ...checkPortNumber(numberAt(port, 'port'), childPath(path, 'port')),
    ...checkOneOf(stringAt(port, 'protocol'), PROTOCOLS, childPath(path, 'protocol'), { required: true }),
  ]
}
