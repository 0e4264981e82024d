// The environment variables of a container.
import {
  childPath,
  type FieldError,
  fieldInvalid,
  fieldNotFound,
  indexPath,
} from '../../../../meta/errors/field-errors.js'
import { checkConfigKey, checkDnsLabel, checkDnsSubdomain, type NameRule } from '../../../../meta/object/names.js'
import { has, objectAt, objectOrNone, objectsAt, stringAt } from '../../../../meta/values/access.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkText } from '../../../common/field-checks.js'
import { check, each, format, optional, type Rule, required, run } from '../../../common/rules.js'
import { allContainers } from './all-containers.js'
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
  optional('fileKeyRef', [
    format('key', checkVariableName, { required: true }),
    format('volumeName', checkDnsLabel, { required: true }),
    required('path'),
    check((ref, path) =>
      stringAt(ref, 'path').split('/').includes('..')
        ? [fieldInvalid(childPath(path, 'path'), stringAt(ref, 'path'), "must not contain '..'")]
        : [],
    ),
  ]),
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
        optional('configMapRef', [format('name', checkDnsSubdomain, { required: true })]),
        optional('secretRef', [format('name', checkDnsSubdomain, { required: true })]),
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

/** Variables from a file: the file is in an emptyDir of the pod. */
export const variableFiles: Rule = check((spec, path) => {
  const volumes = new Map(objectsAt(spec, 'volumes').map(volume => [stringAt(volume, 'name'), has(volume, 'emptyDir')]))
  return allContainers(spec, path).flatMap(({ container, path: own }) =>
    objectsAt(container, 'env').flatMap((entry, i) => {
      const ref = objectOrNone(objectAt(entry, 'valueFrom'), 'fileKeyRef')
      if (ref === undefined) return []
      const name = stringAt(ref, 'volumeName')
      const at = `${own}.env[${i}].valueFrom.fileKeyRef.volumeName`
      const isEmptyDir = volumes.get(name)
      if (isEmptyDir === undefined) return [fieldNotFound(at, name)]
      return isEmptyDir ? [] : [fieldInvalid(at, name, 'referenced volume must be of type emptyDir')]
    }),
  )
})

export const environmentRules: readonly Rule[] = [each('env', variableRules), envFrom]
