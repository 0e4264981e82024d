// ServiceCIDR: a range, or one of each family, from which services get their addresses.
import { asStruct, type FieldError, fieldInvalid, fieldRequired, indexPath } from '../../meta/errors/field-errors.js'
import { objectAt, stringsAt } from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import type { ValueObject } from '../../meta/values/value.js'
import { statusApart } from '../common/build-kind.js'
import { defineKind } from '../common/define-kind.js'
import { earlierVersion } from '../common/earlier-version.js'
import { checkCanonicalCidr, familyOf } from '../common/ip-rules.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate } from '../common/rules.js'
import { statusAlone } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

const PATH = 'spec.cidrs'
const ONE_OF_EACH = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'

const cidrsOf = (object: ValueObject): readonly string[] => stringsAt(objectAt(object, 'spec'), 'cidrs')

function checkCidrs(object: ValueObject): FieldError[] {
  const cidrs = cidrsOf(object)
  if (cidrs.length === 0) return [fieldRequired(PATH, 'at least one CIDR required')]
  if (cidrs.length > 2) return [fieldInvalid(PATH, asStruct({ CIDRs: [...cidrs] }), 'may only hold up to 2 values')]
  const errors = cidrs.flatMap((cidr, i) => checkCanonicalCidr(cidr, indexPath(PATH, i)))
  const [first, second] = cidrs.map(cidr => familyOf(cidr.split('/')[0]!))
  if (cidrs.length === 2 && first !== undefined && first === second) {
    errors.push(fieldInvalid(PATH, [...cidrs], ONE_OF_EACH))
  }
  return errors
}

/** A range stays; one of the other family may be added to it. */
const change = checkUpdate((object, old) => {
  const [cidrs, before] = [cidrsOf(object), cidrsOf(old)]
  const changed = (i: number): FieldError[] =>
    cidrs[i] === before[i] ? [] : [fieldInvalid(indexPath(PATH, i), cidrs[i] ?? '', 'field is immutable')]
  if (cidrs.length === before.length) return cidrs.flatMap((_, i) => changed(i))
  if (before.length === 1 && cidrs.length === 2) return [...changed(0), ...checkCidrs(object)]
  return [fieldInvalid(PATH, asGiven(objectAt(object, 'spec'), 'cidrs'), 'field is immutable')]
})

const serviceCidr = defineKind('networking.k8s.io/v1', 'ServiceCIDR', {
  strategy: statusApart('networking.k8s.io/v1', 'ServiceCIDR', {
    prepareForStatusUpdate: statusAlone,
  }),
  statusReset: ['metadata'],
  validation: validationRules({
    create: [metadata({ namespaced: false }), check(checkCidrs)],
    update: [metadataUpdate, change],
    status: [metadataUpdate],
  }),
  table: (object, now) => [nameOf(object), cidrsOf(object).join(','), ageOf(object, now)],
})

export const serviceCidrs = [serviceCidr, earlierVersion(serviceCidr, 'v1beta1', { since: 34 })]
