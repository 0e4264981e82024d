// The cluster IPs of a service: one, or one of each family. They match the families of the service and do not change.
import {
  asTypedText,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  indexPath,
} from '../../../meta/errors/field-errors.js'
import { has, objectAt, stringAt, stringsAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { checkIp, familyOf } from '../../common/ip-rules.js'

const ADDRESSES = 'spec.clusterIPs'
const FAMILIES = 'spec.ipFamilies'

/** Also of an unknown type, which is refused after addresses were assigned. */
export const needsClusterIp = (spec: ValueObject): boolean => stringAt(spec, 'type') !== 'ExternalName'

/** A service without a cluster IP: its name resolves to the addresses of its endpoints. */
export const isHeadless = (spec: ValueObject): boolean => {
  const addresses = stringsAt(spec, 'clusterIPs')
  return addresses.length === 1 && addresses[0] === 'None'
}

/** Checked both before and after addresses are assigned. */
export function checkClusterIps(spec: ValueObject): FieldError[] {
  if (stringAt(spec, 'type') === 'ExternalName') return []
  const first = stringAt(spec, 'clusterIP')
  const addresses = stringsAt(spec, 'clusterIPs')
  const errors: FieldError[] = []
  if (first !== '') {
    if (addresses.length === 0) errors.push(fieldRequired(ADDRESSES))
    else if (addresses[0] !== first) {
      errors.push(fieldInvalid(ADDRESSES, [...addresses], 'first value must match `clusterIP`'))
    }
  } else if (addresses.length > 0) {
    errors.push(fieldInvalid(ADDRESSES, [...addresses], 'must be empty when `clusterIP` is not specified'))
  }
  errors.push(...checkFamilies(spec))
  if (addresses.length > 2) errors.push(fieldInvalid(ADDRESSES, [...addresses], 'may only hold up to 2 values'))
  const malformed = checkAddresses(addresses)
  if (malformed.length > 0) return [...errors, ...malformed]
  const families = addresses.map(familyOf)
  if (addresses.length > 1 && new Set(families).size < 2) {
    const why = 'may specify no more than one IP for each IP family'
    errors.push(fieldInvalid(ADDRESSES, [...addresses], why))
  }
  return isHeadless(spec) ? errors : [...errors, ...checkFamiliesMatch(spec, addresses)]
}

function checkFamilies(spec: ValueObject): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  stringsAt(spec, 'ipFamilies').forEach((family, i) => {
    const at = indexPath(FAMILIES, i)
    if (family !== 'IPv4' && family !== 'IPv6') errors.push(fieldNotSupported(at, family, ['IPv4', 'IPv6']))
    if (seen.has(family)) errors.push(fieldDuplicate(at, asTypedText(family)))
    seen.add(family)
  })
  const policy = stringAt(spec, 'ipFamilyPolicy')
  if (has(spec, 'ipFamilyPolicy') && !POLICIES.includes(policy)) {
    errors.push(fieldNotSupported('spec.ipFamilyPolicy', policy, POLICIES))
  }
  return errors
}

const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack']

const checkAddresses = (addresses: readonly string[]): FieldError[] =>
  addresses.flatMap((address, i) => {
    if (i > 0 || address !== 'None') return checkIp(address, indexPath(ADDRESSES, i))
    return addresses.length === 1
      ? []
      : [fieldInvalid(ADDRESSES, [...addresses], "'None' must be the first and only value")]
  })

const checkFamiliesMatch = (spec: ValueObject, addresses: readonly string[]): FieldError[] => {
  const families = stringsAt(spec, 'ipFamilies')
  return addresses.flatMap((address, i) => {
    const expected = families[i]
    if ((expected !== 'IPv4' && expected !== 'IPv6') || expected === familyOf(address)) return []
    const why = `expected an ${expected} value as indicated by \`ipFamilies[${i}]\``
    return [fieldInvalid(indexPath(ADDRESSES, i), address, why)]
  })
}

/** Addresses stay as long as the service has any. */
export function checkClusterIpsChange(service: ValueObject, old: ValueObject): FieldError[] {
  const spec = objectAt(service, 'spec')
  const oldSpec = objectAt(old, 'spec')
  if (!needsClusterIp(spec) || !needsClusterIp(oldSpec)) return []
  return [
    ...checkKept(stringsAt(spec, 'clusterIPs'), stringsAt(oldSpec, 'clusterIPs'), ADDRESSES, 'clusterIP', spec),
    ...checkKept(stringsAt(spec, 'ipFamilies'), stringsAt(oldSpec, 'ipFamilies'), FAMILIES, 'ipFamily', spec),
  ]
}

function checkKept(
  now: readonly string[],
  before: readonly string[],
  path: string,
  what: string,
  spec: ValueObject,
): FieldError[] {
  const invalid = (i: number, why: string): FieldError[] => [fieldInvalid(indexPath(path, i), [...now], why)]
  if (before.length === 0) return []
  if (now.length === 0) return invalid(0, `primary ${what} can not be unset`)
  if (now[0] !== before[0]) return invalid(0, 'may not change once set')
  if (before.length < 2) return []
  if (now.length < 2) {
    return stringAt(spec, 'ipFamilyPolicy') === 'SingleStack'
      ? []
      : invalid(0, `\`ipFamilyPolicy\` must be set to 'SingleStack' when releasing the secondary ${what}`)
  }
  return now[1] === before[1] ? [] : invalid(1, 'may not change once set')
}
