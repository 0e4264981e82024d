// What may change when a pod is resized: cpu and memory of its containers.
import { type FieldError, fieldForbidden, fieldInvalid } from '../../../../meta/errors/field-errors.js'
import { has, objectAt, objectOrNone, objectsAt, stringAt } from '../../../../meta/values/access.js'
import { copyValue, equalValues, type ValueObject } from '../../../../meta/values/value.js'
import { qosClassOf } from './status.js'

export function checkResize(pod: ValueObject, old: ValueObject): FieldError[] {
  const spec = objectAt(pod, 'spec')
  const oldSpec = objectAt(old, 'spec')
  if (has(objectAt(objectAt(old, 'metadata'), 'annotations'), 'kubernetes.io/config.mirror')) {
    return [fieldForbidden('', 'static pods cannot be resized')]
  }
  if (stringAt(objectAt(oldSpec, 'os'), 'name') === 'windows') {
    return [fieldForbidden('', 'windows pods cannot be resized')]
  }
  const errors: FieldError[] = []
  const qosClass = stringAt(objectAt(old, 'status'), 'qosClass')
  if ((qosClass || qosClassOf(oldSpec)) !== qosClassOf(spec)) {
    errors.push(fieldInvalid('spec', qosClass, 'Pod QOS Class may not change as a result of resizing'))
  }
  if (!isResizable(old)) errors.push(fieldForbidden('spec', 'Pod running on node without support for resize'))
  const order = [...checkOrder(spec, oldSpec, 'containers'), ...checkOrder(spec, oldSpec, 'initContainers')]
  if (order.length > 0) return [...errors, ...order]
  errors.push(...checkNothingRemoved(spec, oldSpec, 'containers'), ...checkInitContainers(spec, oldSpec))
  if (!equalValues(atOldSize(spec, oldSpec), oldSpec)) {
    errors.push(fieldForbidden('spec', 'only cpu and memory resources are mutable'))
  }
  return errors
}

/** A node that reports the resources of a running container supports resizing. */
function isResizable(pod: ValueObject): boolean {
  const statuses = objectsAt(objectAt(pod, 'status'), 'containerStatuses')
  const running = statuses.find(status => has(objectAt(status, 'state'), 'running'))
  return running === undefined || has(running, 'resources')
}

function checkOrder(spec: ValueObject, oldSpec: ValueObject, field: string): FieldError[] {
  const now = objectsAt(spec, field)
  const before = objectsAt(oldSpec, field)
  if (now.length !== before.length) {
    return [fieldForbidden(`spec.${field}`, `${field} may not be added or removed on resize`)]
  }
  return before.flatMap((old, i) => {
    if (stringAt(old, 'name') === stringAt(now[i]!, 'name')) return []
    return [fieldForbidden(`spec.${field}[${i}].name`, `${field} may not be renamed or reordered on resize`)]
  })
}

const isSidecar = (container: ValueObject): boolean => stringAt(container, 'restartPolicy') === 'Always'

/** Init containers that end before the others start cannot be resized; sidecars can. */
function checkInitContainers(spec: ValueObject, oldSpec: ValueObject): FieldError[] {
  const fixed = objectsAt(spec, 'initContainers').flatMap((container, i) => {
    const old = objectsAt(oldSpec, 'initContainers')[i]!
    if (isSidecar(container) || equalValues(objectAt(container, 'resources'), objectAt(old, 'resources'))) return []
    const why = 'resources for non-sidecar init containers are immutable'
    return [fieldForbidden(`spec.initContainers[${i}].resources`, why)]
  })
  return [...fixed, ...checkNothingRemoved(spec, oldSpec, 'initContainers', isSidecar)]
}

function checkNothingRemoved(
  spec: ValueObject,
  oldSpec: ValueObject,
  field: string,
  applies: (container: ValueObject) => boolean = () => true,
): FieldError[] {
  return objectsAt(spec, field).flatMap((container, i) => {
    if (!applies(container)) return []
    const old = objectAt(objectsAt(oldSpec, field)[i]!, 'resources')
    return AMOUNTS.flatMap(amounts => {
      const now = objectAt(objectAt(container, 'resources'), amounts)
      if (Object.keys(objectAt(old, amounts)).every(name => has(now, name))) return []
      return [fieldForbidden(`spec.${field}[${i}].resources.${amounts}`, `resource ${amounts} cannot be removed`)]
    })
  })
}

const AMOUNTS = ['requests', 'limits']
const RESIZABLE = new Set(['cpu', 'memory'])

/** The new spec with the old cpu and memory: it must equal the old spec. */
function atOldSize(spec: ValueObject, oldSpec: ValueObject): ValueObject {
  const restored = copyValue(spec)
  for (const field of ['containers', 'initContainers']) {
    objectsAt(restored, field).forEach((container, i) => {
      const old = objectsAt(oldSpec, field)[i]!
      // Changes of other init containers are reported above.
      if (field === 'initContainers' && !isSidecar(container)) container['resources'] = old['resources'] ?? {}
      else restoreAmounts(objectAt(container, 'resources'), objectAt(old, 'resources'))
    })
  }
  return restored
}

function restoreAmounts(resources: ValueObject, old: ValueObject): void {
  for (const amounts of AMOUNTS) {
    const now = objectAt(resources, amounts)
    const before = objectOrNone(old, amounts)
    const others = Object.entries(now).filter(([name]) => !RESIZABLE.has(name))
    const kept = Object.entries(before ?? {}).filter(([name]) => RESIZABLE.has(name))
    const all = Object.fromEntries([...others, ...kept])
    if (before === undefined && Object.keys(all).length === 0) delete resources[amounts]
    else resources[amounts] = all
  }
}
