// RoleBinding and ClusterRoleBinding: who has a role, in a namespace or everywhere.
import {
  asString,
  childPath,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
} from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain, checkPathSegment } from '../../meta/object/names.js'
import { ensureObject, objectAt, objectsAt, setDefault, stringAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import { defineKind, type KindDefinition } from '../common/define-kind.js'
import { asGoStruct } from '../common/go-struct.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, each, field, format, oneOf, type Rule, required, union } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'

const GROUP = 'rbac.authorization.k8s.io'

function defaults(binding: ValueObject): void {
  setDefault(ensureObject(binding, 'roleRef'), 'apiGroup', GROUP)
  for (const subject of objectsAt(binding, 'subjects')) {
    const kind = stringAt(subject, 'kind')
    if (kind === 'User' || kind === 'Group') setDefault(subject, 'apiGroup', GROUP)
  }
}

// ---- validation

const roleRef = (kinds: readonly string[]): readonly Rule[] => [
  oneOf('apiGroup', [GROUP], { isString: true }),
  oneOf('kind', kinds, { isString: true }),
  format('name', checkPathSegment, { required: true }),
]

const SUBJECT_KINDS = ['ServiceAccount', 'User', 'Group']

/** An account without a namespace is one of the binding's namespace, if the binding has one. */
const account = (namespaced: boolean): readonly Rule[] => [
  format('name', checkDnsSubdomain),
  oneOf('apiGroup', [''], { isString: true }),
  ...(namespaced ? [] : [required('namespace')]),
]

const ofGroup: readonly Rule[] = [oneOf('apiGroup', [GROUP], { isString: true })]

const subjectRules = (namespaced: boolean): readonly Rule[] => [
  required('name'),
  union('kind', { ServiceAccount: account(namespaced), User: ofGroup, Group: ofGroup }, [
    check((subject, path): FieldError[] => [
      fieldNotSupported(childPath(path, 'kind'), asString(stringAt(subject, 'kind')), SUBJECT_KINDS),
    ]),
  ]),
]

const sameRole = checkUpdate((binding, old) => {
  const given = objectAt(binding, 'roleRef')
  if (equalValues(given, objectAt(old, 'roleRef'))) return []
  return [fieldInvalid('roleRef', asGoStruct('rbac/v1.RoleRef', given), 'cannot change roleRef')]
})

// ---- Table

const row: TableRow = (binding, now) => {
  const given = objectAt(binding, 'roleRef')
  const subjectsOf = (kind: string): string =>
    objectsAt(binding, 'subjects')
      .filter(subject => stringAt(subject, 'kind') === kind)
      .map(
        subject => (kind === 'ServiceAccount' ? `${stringAt(subject, 'namespace')}/` : '') + stringAt(subject, 'name'),
      )
      .join(', ')
  return [
    nameOf(binding),
    `${stringAt(given, 'kind')}/${stringAt(given, 'name')}`,
    ageOf(binding, now),
    subjectsOf('User'),
    subjectsOf('Group'),
    subjectsOf('ServiceAccount'),
  ]
}

// ---- definitions

function defineBinding(kind: string, namespaced: boolean): KindDefinition {
  const rules: readonly Rule[] = [
    metadata({ namespaced, name: checkPathSegment }),
    field('roleRef', roleRef(namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'])),
    each('subjects', subjectRules(namespaced)),
  ]
  return defineKind('rbac.authorization.k8s.io/v1', kind, {
    defaults,
    strategy: { prepareForUpdate: keepGeneration, allowCreateOnUpdate: true },
    validation: validationRules({ create: rules, update: [...rules, metadataUpdate, sameRole] }),
    table: row,
  })
}

export const roleBinding = defineBinding('RoleBinding', true)
export const clusterRoleBinding = defineBinding('ClusterRoleBinding', false)
