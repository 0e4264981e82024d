// The downward API: fields and resources of a pod that its containers can read.
import {
  asString,
  childPath,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../../../meta/errors/field-errors.js'
import { checkQualifiedName } from '../../../../meta/object/names.js'
import { stringAt } from '../../../../meta/values/access.js'
import { parseQuantity, printQuantity, signOf } from '../../../../meta/values/quantity.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkText } from '../../../common/field-checks.js'

/** Fields of a pod that have a name in the downward API. */
const POD_FIELDS: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
])

/** The fields that environment variables can have, in the order of messages. */
export const ENVIRONMENT_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]

/** The fields that files can have. */
export const VOLUME_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

export function checkFieldRef(ref: ValueObject, supported: readonly string[], path: string): FieldError[] {
  const given = stringAt(ref, 'fieldPath')
  const at = childPath(path, 'fieldPath')
  const version = stringAt(ref, 'apiVersion')
  if (version === '') return [fieldRequired(childPath(path, 'apiVersion'))]
  if (given === '') return [fieldRequired(at)]
  const cannotConvert = (why: string): FieldError[] => [fieldInvalid(at, given, `error converting fieldPath: ${why}`)]
  if (version !== 'v1') return cannotConvert(`unsupported pod version: ${version}`)
  const subscript = given.endsWith("']") ? given.indexOf("['") : -1
  if (subscript > 0 && subscript + 2 <= given.length - 2) {
    const field = given.slice(0, subscript)
    const key = given.slice(subscript + 2, -2)
    if (field === 'metadata.annotations') return checkText(key.toLowerCase(), checkQualifiedName, path)
    if (field === 'metadata.labels') return checkText(key, checkQualifiedName, path)
    return cannotConvert(`field label does not support subscript: ${given}`)
  }
  const field = given === 'spec.host' ? 'spec.nodeName' : given
  if (!POD_FIELDS.has(field)) return cannotConvert(`field label not supported: ${given}`)
  return supported.includes(field) ? [] : [fieldNotSupported(at, asString(field), supported)]
}

const RESOURCE_FIELDS = ['limits', 'requests'].flatMap(list =>
  ['cpu', 'ephemeral-storage', 'memory'].map(name => `${list}.${name}`),
)

/** `inVolume`: a file belongs to no container, so it must name one. */
export function checkResourceRef(ref: ValueObject, path: string, { inVolume = false } = {}): FieldError[] {
  if (inVolume && stringAt(ref, 'containerName') === '') return [fieldRequired(childPath(path, 'containerName'))]
  const resource = stringAt(ref, 'resource')
  if (resource === '') return [fieldRequired(childPath(path, 'resource'))]
  if (RESOURCE_FIELDS.includes(resource) || /^(limits|requests)\.hugepages-/.test(resource)) {
    return checkDivisor(resource, stringAt(ref, 'divisor'), childPath(path, 'divisor'))
  }
  return [fieldNotSupported(childPath(path, 'resource'), asString(resource), RESOURCE_FIELDS)]
}

const CPU_DIVISORS = '1m and 1'
const BYTE_DIVISORS = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei'

/** What the value is divided by: an amount of one unit. */
function checkDivisor(resource: string, text: string, path: string): FieldError[] {
  const divisor = parseQuantity(text)
  if (!divisor.ok || signOf(divisor.value) === 0) return []
  const name = resource.slice(resource.indexOf('.') + 1)
  const units = name === 'cpu' ? CPU_DIVISORS : BYTE_DIVISORS
  if (units.split(/, | and /).includes(printQuantity(divisor.value))) return []
  const named = name === 'ephemeral-storage' ? 'local ephemeral storage' : name.replace(/^hugepages-.*/, 'hugepages')
  const why = `only divisor's values ${units} are supported with the ${named} resource`
  return [fieldInvalid(path, resource, why)]
}
