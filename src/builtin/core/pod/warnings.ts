// Warnings about pods and pod templates that are accepted.
import { childPath, indexPath, keyPath } from '../../../meta/errors/field-errors.js'
import { quote } from '../../../meta/go/go-text.js'
import { checkDnsLabel } from '../../../meta/object/names.js'
import { numberAt, objectAt, objectsAt, stringAt } from '../../../meta/values/access.js'
import { parseQuantity, printQuantity } from '../../../meta/values/quantity.js'
import { equalValues, getOwn, type ValueObject } from '../../../meta/values/value.js'
import type { Warnings } from '../../common/define-kind.js'

export const podWarnings: Warnings = (pod, old) => {
  if (old !== undefined && sameSpec(pod, old)) return []
  const name = old === undefined ? nameWarnings(pod, "the Pod's hostname") : []
  return [...name, ...podSpecWarnings(objectAt(pod, 'spec'), 'spec')]
}

/** For kinds that create pods. `isNamed`: the pods' names start with the name of the object. */
export function templateWarnings(path: string, { isNamed = false } = {}): Warnings {
  const members = [...path.split('.'), 'spec']
  return (object, old) => {
    if (old !== undefined && sameSpec(object, old)) return []
    const name = isNamed && old === undefined ? nameWarnings(object, 'Pod names and hostnames') : []
    return [...name, ...podSpecWarnings(members.reduce(objectAt, object), `${path}.spec`)]
  }
}

const sameSpec = (object: ValueObject, old: ValueObject): boolean =>
  equalValues(getOwn(object, 'spec') ?? null, getOwn(old, 'spec') ?? null)

function nameWarnings(object: ValueObject, use: string): string[] {
  const errors = checkDnsLabel(stringAt(objectAt(object, 'metadata'), 'name'))
  if (errors.length === 0) return []
  const why = `this is used in ${use}, which can result in surprising behavior; a DNS label is recommended`
  return [`metadata.name: ${why}: [${errors.join(' ')}]`]
}

function podSpecWarnings(spec: ValueObject, path: string): string[] {
  const containers = (field: string): string[] =>
    objectsAt(spec, field).flatMap((container, i) => containerWarnings(container, indexPath(childPath(path, field), i)))
  return [
    ...nodeSelectorWarnings(spec, childPath(path, 'nodeSelector')),
    ...pullSecretWarnings(spec, childPath(path, 'imagePullSecrets')),
    ...containers('initContainers'),
    ...containers('containers'),
  ]
}

/** Labels that were renamed. */
const DEPRECATED_LABELS: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
}

const nodeSelectorWarnings = (spec: ValueObject, path: string): string[] =>
  Object.keys(objectAt(spec, 'nodeSelector')).flatMap(label =>
    Object.hasOwn(DEPRECATED_LABELS, label) ? [`${keyPath(path, label)}: ${DEPRECATED_LABELS[label]}`] : [],
  )

function pullSecretWarnings(spec: ValueObject, path: string): string[] {
  const seen = new Set<string>()
  return objectsAt(spec, 'imagePullSecrets').flatMap((secret, i) => {
    const name = stringAt(secret, 'name')
    const at = childPath(indexPath(path, i), 'name')
    if (name === '') return [`${at}: invalid empty name ""`]
    if (seen.has(name)) return [`${at}: duplicate name ${quote(name)}`]
    seen.add(name)
    return []
  })
}

function containerWarnings(container: ValueObject, path: string): string[] {
  return [
    ...environmentWarnings(container, childPath(path, 'env')),
    ...resourceWarnings(container, childPath(path, 'resources')),
    ...portWarnings(container, childPath(path, 'ports')),
  ]
}

function environmentWarnings(container: ValueObject, path: string): string[] {
  const seen = new Set<string>()
  return objectsAt(container, 'env').flatMap((entry, i) => {
    const name = stringAt(entry, 'name')
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    // A value that refers to the earlier one needs it.
    if (stringAt(entry, 'value').includes(`$(${name})`)) return []
    const why = `hides previous definition of ${quote(name)}, which may be dropped when using apply`
    return [`${indexPath(path, i)}: ${why}`]
  })
}

/** Amounts of bytes must be integers. */
const resourceWarnings = (container: ValueObject, path: string): string[] =>
  ['limits', 'requests'].flatMap(field => {
    const amounts = objectAt(objectAt(container, 'resources'), field)
    return ['memory', 'ephemeral-storage'].flatMap(name => {
      const amount = parseQuantity(stringAt(amounts, name))
      if (!amount.ok || amount.value.scale >= 0) return []
      if (amount.value.amount % 10n ** BigInt(-amount.value.scale) === 0n) return []
      const shown = quote(printQuantity(amount.value))
      const at = keyPath(childPath(path, field), name)
      return [`${at}: fractional byte value ${shown} is invalid, must be an integer`]
    })
  })

function portWarnings(container: ValueObject, path: string): string[] {
  const seen = new Map<string, number>()
  return objectsAt(container, 'ports').flatMap((port, i) => {
    const numbers = [numberAt(port, 'containerPort'), numberAt(port, 'hostPort')]
    const key = [...numbers, stringAt(port, 'hostIP'), stringAt(port, 'protocol')].join(' ')
    const before = seen.get(key)
    seen.set(key, before ?? i)
    if (before === undefined || numberAt(port, 'containerPort') === 0) return []
    return [`${indexPath(path, i)}: duplicate port definition with ${indexPath(path, before)}`]
  })
}
