// Probes and lifecycle hooks of a container, and the handlers that both consist of.
import {
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
} from '../../../../meta/errors/field-errors.js'
import { checkPortName } from '../../../../meta/object/names.js'
import { has, numberAt, numberOrNone, objectAt, objectsAt, stringAt } from '../../../../meta/values/access.js'
import type { ValueObject } from '../../../../meta/values/value.js'
import { checkPortNumber, checkText } from '../../../common/field-checks.js'
import { check, field, ifSet, notNegative, oneOf, optional, type Rule, required, run } from '../../../common/rules.js'

// ---- handlers

/** A port by its number or by its name. */
const numberOrNameOfPort = check((handler, path) => {
  const port = handler['port'] ?? 0
  const at = childPath(path, 'port')
  return typeof port === 'string' ? checkText(port, checkPortName, at) : checkPortNumber(Number(port), at)
})

const HEADER = '[-A-Za-z0-9]+'

/** kube-apiserver's errors name the list, not the header. */
const headers = check((handler, path) =>
  objectsAt(handler, 'httpHeaders').flatMap(header => {
    const name = stringAt(header, 'name')
    if (new RegExp(`^${HEADER}$`).test(name)) return []
    const why = `a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '${HEADER}')`
    return [fieldInvalid(childPath(path, 'httpHeaders'), name, why)]
  }),
)

const HANDLERS: Readonly<Record<string, readonly Rule[]>> = {
  exec: [required('command')],
  httpGet: [required('path'), numberOrNameOfPort, oneOf('scheme', ['HTTP', 'HTTPS']), headers],
  tcpSocket: [numberOrNameOfPort],
  grpc: [check((handler, path) => checkPortNumber(numberAt(handler, 'port'), childPath(path, 'port')))],
  sleep: [],
}

/** Exactly one of the handlers; the first of several counts. */
const oneHandler = (...kinds: readonly string[]): Rule =>
  check((value, path) => {
    const given = kinds.filter(kind => has(value, kind))
    if (given.length === 0) return [fieldRequired(path, 'must specify a handler type')]
    return given.flatMap((kind, i) =>
      i > 0
        ? [fieldForbidden(childPath(path, kind), 'may not specify more than 1 handler type')]
        : run(HANDLERS[kind]!, objectAt(value, kind), undefined, childPath(path, kind)),
    )
  })

// ---- probes

export const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe']

const gracePeriod = ifSet('terminationGracePeriodSeconds', [
  check((probe, path) => {
    const seconds = numberAt(probe, 'terminationGracePeriodSeconds')
    if (seconds > 0) return []
    return [fieldInvalid(childPath(path, 'terminationGracePeriodSeconds'), seconds, 'must be greater than 0')]
  }),
])

/** A pod that is not ready is not ended. */
const noGracePeriod = check((probe, path) => {
  const seconds = numberOrNone(probe, 'terminationGracePeriodSeconds')
  if (seconds === undefined) return []
  return [
    fieldInvalid(childPath(path, 'terminationGracePeriodSeconds'), seconds, 'must not be set for readinessProbes'),
  ]
})

const singleSuccess = check((probe, path) => {
  const threshold = numberAt(probe, 'successThreshold')
  return threshold === 1 ? [] : [fieldInvalid(childPath(path, 'successThreshold'), threshold, 'must be 1')]
})

const probeRules: readonly Rule[] = [
  oneHandler('exec', 'httpGet', 'tcpSocket', 'grpc'),
  notNegative('initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'),
]

export const probes: readonly Rule[] = [
  optional('livenessProbe', [...probeRules, singleSuccess, gracePeriod]),
  optional('readinessProbe', [...probeRules, gracePeriod, noGracePeriod]),
  optional('startupProbe', [...probeRules, singleSuccess, gracePeriod]),
]

// ---- hooks

/** `podGracePeriod`: the seconds that the pod has to end; a hook may not wait longer. */
export function checkLifecycle(container: ValueObject, podGracePeriod: number, path: string): FieldError[] {
  const waits = check((hook, at) => {
    const seconds = numberOrNone(objectAt(hook, 'sleep'), 'seconds')
    if (seconds === undefined || (seconds >= 0 && seconds <= podGracePeriod)) return []
    const why = `must be non-negative and less than terminationGracePeriodSeconds (${podGracePeriod})`
    return [fieldInvalid(childPath(at, 'sleep'), seconds, why)]
  })
  const hook: readonly Rule[] = [oneHandler('exec', 'httpGet', 'tcpSocket', 'sleep'), waits]
  return run([field('lifecycle', [optional('postStart', hook), optional('preStop', hook)])], container, undefined, path)
}
