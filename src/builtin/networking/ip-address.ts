// IPAddress: an address that an object has taken. The address is the name.
import { childPath, fieldInvalid } from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain, checkPathSegment } from '../../meta/object/names.js'
import { objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { earlierVersion } from '../common/earlier-version.js'
import { sameValue } from '../common/field-checks.js'
import { asGoStruct } from '../common/go-struct.js'
import { checkCanonicalIp } from '../common/ip-rules.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { checkUpdate, field, format, optional, type Rule, required } from '../common/rules.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

const checkName = (name: string): string[] => checkCanonicalIp(name, 'metadata.name').map(({ detail }) => detail)

const parentRules: readonly Rule[] = [
  format('group', checkDnsSubdomain),
  format('resource', checkPathSegment, { required: true }),
  format('name', checkPathSegment, { required: true }),
  format('namespace', checkPathSegment),
]

const immutableParent = checkUpdate((spec, old, path) => {
  if (sameValue(getOwn(spec, 'parentRef'), getOwn(old, 'parentRef'))) return []
  const parent = objectOrNone(spec, 'parentRef')
  const shown = parent === undefined ? null : asGoStruct('networking/v1.ParentReference', parent)
  return [fieldInvalid(childPath(path, 'parentRef'), shown, 'field is immutable')]
})

/** The object that has the address: `services/default/kubernetes`. */
function parentCell(address: ValueObject): string {
  const parent = objectAt(objectAt(address, 'spec'), 'parentRef')
  const [group, resource] = [stringAt(parent, 'group'), stringAt(parent, 'resource')]
  const parts = [
    group === '' ? resource : `${resource}.${group}`,
    stringAt(parent, 'namespace'),
    stringAt(parent, 'name'),
  ]
  return parts.filter(Boolean).join('/')
}

const rules: readonly Rule[] = [
  metadata({ namespaced: false, name: checkName }),
  field('spec', [required('parentRef'), optional('parentRef', parentRules)]),
]

const ipAddress = defineKind('networking.k8s.io/v1', 'IPAddress', {
  validation: validationRules({
    create: rules,
    update: [...rules, metadataUpdate, field('spec', [immutableParent])],
  }),
  table: (address, now) => [nameOf(address), parentCell(address), ageOf(address, now)],
})

export const ipAddresses = [ipAddress, earlierVersion(ipAddress, 'v1beta1', { since: 34 })]
