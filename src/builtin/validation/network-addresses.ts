// Addresses that are taken, and the ranges that they are taken from.
import {
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  fieldTooMany,
  indexPath,
} from '../../meta/errors/field-errors.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { has, objectAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { equalValues, getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkCidr, checkIp, familyOf } from '../common/ip-rules.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'

/** An address is its own name. */
function checkAddress(address: ValueObject): FieldError[] {
  const { name = '' } = metaOf(address)
  return [...checkMeta(address, { namespaced: false, name: () => [] }), ...checkIp(name, 'metadata.name')].concat(
    checkParent(address),
  )
}

function checkParent(address: ValueObject): FieldError[] {
  const spec = objectAt(address, 'spec')
  if (!has(spec, 'parentRef')) return [fieldRequired('spec.parentRef')]
  const parent = objectAt(spec, 'parentRef')
  return ['resource', 'name'].flatMap(field =>
    stringAt(parent, field) === '' ? [fieldRequired(`spec.parentRef.${field}`)] : [],
  )
}

export const ipAddressValidation: Validation = {
  create: checkAddress,
  update: (address, old) => [
    ...checkMetaUpdate(address, old),
    ...(equalValues(getOwn(address, 'spec'), getOwn(old, 'spec'))
      ? []
      : [fieldInvalid('spec.parentRef', getOwn(objectAt(address, 'spec'), 'parentRef') ?? null, 'field is immutable')]),
  ],
}

function checkRanges(range: ValueObject): FieldError[] {
  const path = 'spec.cidrs'
  const cidrs = stringsAt(objectAt(range, 'spec'), 'cidrs')
  if (cidrs.length === 0) return [fieldRequired(path, 'at least one CIDR required')]
  if (cidrs.length > 2) return [fieldTooMany(path, cidrs.length, 2)]
  const errors = cidrs.flatMap((cidr, i) => checkCidr(cidr, indexPath(path, i)))
  if (errors.length > 0 || cidrs.length < 2) return errors
  const [first, second] = cidrs.map(cidr => familyOf(cidr.split('/')[0]!))
  return first === second
    ? [
        fieldInvalid(
          path,
          [...cidrs],
          'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
        ),
      ]
    : []
}

export const serviceCidrValidation: Validation = {
  create: range => [...checkMeta(range, { namespaced: false }), ...checkRanges(range)],
  update: (range, old) => [
    ...checkMetaUpdate(range, old),
    ...(equalValues(getOwn(range, 'spec'), getOwn(old, 'spec'))
      ? []
      : [fieldForbidden('spec.cidrs', 'field is immutable')]),
  ],
  status: checkMetaUpdate,
}
