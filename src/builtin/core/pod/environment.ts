// The environment variables of a container.
import { childPath, type FieldError, fieldInvalid, indexPath } from '../../../meta/errors/field-errors.js'
import { checkConfigKey, checkDnsSubdomain, type NameRule } from '../../../meta/object/names.js'
import { has, objectsAt, stringAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { checkText } from '../../common/field-checks.js'
import { check, each, format, optional, type Rule, required, run } from '../../common/rules.js'
import { checkFieldRef, checkResourceRef, ENVIRONMENT_FIELDS } from './downward-api.js'

const checkVariableName: NameRule = name =>
  /^[ -<>-~]+$/.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"]

// ---- env

const SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef']

/** One source, and no value beside it. */
function checkSourceCount(entry: ValueObject, from: ValueObject, path: string): FieldError[] {
  const given = SOURCES.filter(source => has(from, source))
  const invalid = (why: string): FieldError[] => [fieldInvalid(path, '', why)]
  if (given.length === 0) {
    const all = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    return invalid(`must specify one of: ${all}`)
  }
  if (stringAt(entry, 'value') !== '') return invalid('may not be specified when `value` is not empty')
  return given.length > 1 ? invalid('may not have more than one field specified at a time') : []
}

const keyRefRules: readonly Rule[] = [
  check((ref, path) => checkText(stringAt(ref, 'name'), checkDnsSubdomain, childPath(path, 'name'))),
  format('key', checkConfigKey, { required: true }),
]

const sourceRules: readonly Rule[] = [
  optional('fieldRef', [check((ref, path) => checkFieldRef(ref, ENVIRONMENT_FIELDS, path))]),
  optional('configMapKeyRef', keyRefRules),
  optional('secretKeyRef', keyRefRules),
  optional('resourceFieldRef', [check((ref, path) => checkResourceRef(ref, path))]),
]

const variableRules: readonly Rule[] = [
  format('name', checkVariableName, { required: true }),
  check((entry, path) =>
    run(
      [optional('valueFrom', [check((from, at) => checkSourceCount(entry, from, at)), ...sourceRules])],
      entry,
      undefined,
      path,
    ),
  ),
]

// ---- envFrom

/** Errors about the number of sources name the list, not the item. */
const envFrom = check((container, path) => {
  const listPath = childPath(path, 'envFrom')
  return objectsAt(container, 'envFrom').flatMap((source, i) => {
    const given = ['configMapRef', 'secretRef'].filter(name => has(source, name))
    const errors = run(
      [
        optional('configMapRef', [required('name')]),
        optional('secretRef', [required('name')]),
        format('prefix', checkVariableName),
      ],
      source,
      undefined,
      indexPath(listPath, i),
    )
    if (given.length === 0) {
      errors.push(fieldInvalid(listPath, '', 'must specify one of: `configMapRef` or `secretRef`'))
    }
    if (given.length > 1) {
      errors.push(fieldInvalid(listPath, '', 'may not have more than one field specified at a time'))
    }
    return errors
  })
})

export const environmentRules: readonly Rule[] = [each('env', variableRules), envFrom]
