// The security contexts of containers and pods.
import { asStruct, childPath, type FieldError, fieldInvalid } from '../../../meta/errors/field-errors.js'
import { has, numberAt, objectAt, stringsAt } from '../../../meta/values/access.js'
import { getOwn, type Value, type ValueObject } from '../../../meta/values/value.js'

export function checkSecurityContext(context: ValueObject | undefined, path: string): FieldError[] {
  if (context === undefined) return []
  const errors = checkIds(context, ['runAsUser', 'runAsGroup'], path)
  if (getOwn(context, 'allowPrivilegeEscalation') !== false) return errors
  const told = (what: string): FieldError =>
    fieldInvalid(path, asStruct(shown(context)), `cannot set \`allowPrivilegeEscalation\` to false and ${what}`)
  if (getOwn(context, 'privileged') === true) errors.push(told('`privileged` to true'))
  if (stringsAt(objectAt(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN')) {
    errors.push(told('`capabilities.Add` CAP_SYS_ADMIN'))
  }
  return errors
}

/** Identities of users and groups. */
export const checkIds = (context: ValueObject, fields: readonly string[], path: string): FieldError[] =>
  fields.flatMap(field => {
    const id = numberAt(context, field)
    if (!has(context, field) || (id >= 0 && id < 2 ** 31)) return []
    return [fieldInvalid(childPath(path, field), id, 'must be between 0 and 2147483647, inclusive')]
  })

/** As Go prints the struct. */
function shown(context: ValueObject): Value {
  const names = [
    'capabilities',
    'privileged',
    'seLinuxOptions',
    'windowsOptions',
    'runAsUser',
    'runAsGroup',
    'runAsNonRoot',
    'readOnlyRootFilesystem',
    'allowPrivilegeEscalation',
    'procMount',
    'seccompProfile',
    'appArmorProfile',
  ]
  return Object.fromEntries(names.map(name => [goName(name), withGoNames(getOwn(context, name) ?? null)]))
}

const goName = (name: string): string =>
  name === 'seLinuxOptions' ? 'SELinuxOptions' : name.slice(0, 1).toUpperCase() + name.slice(1)

function withGoNames(value: Value): Value {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [goName(key), withGoNames(member as Value)]))
}
