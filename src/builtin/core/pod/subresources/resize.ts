// What may change when a pod is resized: cpu and memory of the pod itself and of its containers.
import { type FieldError, fieldForbidden, fieldInvalid } from '../../../../meta/errors/field-errors.js'
import { has, objectAt, objectsAt, stringAt } from '../../../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../../../meta/values/value.js'
import { MIRROR } from '../spec/pod-annotations.js'
import { qosClassOf } from './status.js'

export const checkResize = (pod: ValueObject, old: ValueObject): FieldError[] => checkAll(pod, old, checkInitContainer)

/** The same where init containers that end before the others start cannot be resized. */
export const checkResizeWithoutInit = (pod: ValueObject, old: ValueObject): FieldError[] =>
  checkAll(pod, old, checkSidecarOnly)

type CheckInit = (container: ValueObject, old: ValueObject, path: string) => FieldError[]

function checkAll(pod: ValueObject, old: ValueObject, checkInit: CheckInit): FieldError[] {
  const spec = objectAt(pod, 'spec')
  const oldSpec = objectAt(old, 'spec')
  if (has(objectAt(objectAt(old, 'metadata'), 'annotations'), MIRROR)) {
    return [fieldForbidden('', 'static pods cannot be resized')]
  }
  if (stringAt(objectAt(oldSpec, 'os'), 'name') === 'windows') {
    return [fieldForbidden('', 'windows pods cannot be resized')]
  }
  const errors: FieldError[] = []
  const status = objectAt(old, 'status')
  const qosClass = stringAt(status, 'qosClass')
  if ((qosClass || qosClassOf(oldSpec)) !== qosClassOf(spec)) {
    errors.push(fieldInvalid('spec', qosClass, 'Pod QOS Class may not change as a result of resizing'))
  }
  if (!isResizable(old)) errors.push(fieldForbidden('spec', 'Pod running on node without support for resize'))
  errors.push(...checkOwnResources(spec, oldSpec))
  if (objectsAt(status, 'nodeAllocatableResourceClaimStatuses').length > 0) {
    errors.push(fieldForbidden('spec', 'pods with node allocatable resource claims cannot be resized'))
  }
  const order = [...checkOrder(spec, oldSpec, 'containers'), ...checkOrder(spec, oldSpec, 'initContainers')]
  if (order.length > 0) return [...errors, ...order]
  errors.push(
    ...checkNothingRemoved(spec, oldSpec, 'initContainers', checkInit === checkSidecarOnly),
    ...checkNothingRemoved(spec, oldSpec, 'containers'),
    ...pairs(spec, oldSpec, 'containers').flatMap(([now, before]) =>
      isSameButForSize(now, before) ? [] : [fieldForbidden('spec', 'only cpu and memory resources are mutable')],
    ),
    ...pairs(spec, oldSpec, 'initContainers').flatMap(([now, before], i) =>
      checkInit(now, before, `spec.initContainers[${i}]`),
    ),
  )
  return errors
}

/** A node that reports the resources of a running container supports resizing. */
function isResizable(pod: ValueObject): boolean {
  const statuses = objectsAt(objectAt(pod, 'status'), 'containerStatuses')
  const running = statuses.find(status => has(objectAt(status, 'state'), 'running'))
  return running === undefined || has(running, 'resources')
}

const AMOUNTS = ['requests', 'limits']
const RESIZABLE = new Set(['cpu', 'memory'])

/** The resources of the pod itself. */
function checkOwnResources(spec: ValueObject, oldSpec: ValueObject): FieldError[] {
  const now = objectAt(spec, 'resources')
  const before = objectAt(oldSpec, 'resources')
  if (![now, before].some(each => AMOUNTS.some(amounts => Object.keys(objectAt(each, amounts)).length > 0))) return []
  if (has(oldSpec, 'resources') && !has(spec, 'resources')) {
    return [fieldForbidden('spec.resources', 'pod-level resources cannot be removed')]
  }
  const errors = AMOUNTS.filter(amounts => isRemoved(now, before, amounts)).map(amounts =>
    fieldForbidden(`spec.resources.${amounts}`, `pod-level resource ${amounts} cannot be removed`),
  )
  if (!equalValues(atSizeOf(now, before), withoutEmpty(before))) {
    errors.push(fieldForbidden('spec', 'only cpu and memory resources are mutable at pod-level'))
  }
  return errors
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

/** Each container with the old one, which `checkOrder` has found at the same place. */
const pairs = (spec: ValueObject, oldSpec: ValueObject, field: string): (readonly [ValueObject, ValueObject])[] => {
  const before = objectsAt(oldSpec, field)
  return objectsAt(spec, field).map((container, i) => [container, before[i]!] as const)
}

function checkNothingRemoved(
  spec: ValueObject,
  oldSpec: ValueObject,
  field: string,
  sidecarsOnly = false,
): FieldError[] {
  return pairs(spec, oldSpec, field).flatMap(([container, old], i) =>
    AMOUNTS.filter(
      amounts =>
        (!sidecarsOnly || isSidecar(old)) &&
        isRemoved(objectAt(container, 'resources'), objectAt(old, 'resources'), amounts),
    ).map(amounts =>
      fieldForbidden(`spec.${field}[${i}].resources.${amounts}`, `resource ${amounts} cannot be removed`),
    ),
  )
}

const isRemoved = (now: ValueObject, before: ValueObject, amounts: string): boolean =>
  Object.keys(objectAt(before, amounts)).some(name => !has(objectAt(now, amounts), name))

/** An init container that ends before the others start is resized as a whole, without a restart. */
function checkInitContainer(container: ValueObject, old: ValueObject, path: string): FieldError[] {
  const errors = isSameButForSize(container, old)
    ? []
    : [fieldForbidden(path, 'only cpu and memory resources for init or sidecar containers are mutable')]
  if (isSidecar(container) || equalValues(container, old)) return errors
  const restarts = objectsAt(container, 'resizePolicy').filter(
    policy => stringAt(policy, 'restartPolicy') === 'RestartContainer',
  )
  const why = 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'
  return [...errors, ...restarts.map(() => fieldForbidden(path, why))]
}

const isSidecar = (container: ValueObject): boolean => stringAt(container, 'restartPolicy') === 'Always'

const checkSidecarOnly: CheckInit = (container, old, path) => {
  if (isSidecar(container)) return checkInitContainer(container, old, path)
  return equalValues(container, old)
    ? []
    : [fieldForbidden('spec', 'resources for non-sidecar init containers are immutable')]
}

/** Claims to devices are compared like a field that has gone, so that a container with any cannot be resized. */
const isSameButForSize = (container: ValueObject, old: ValueObject): boolean => {
  const { claims: _, ...resources } = objectAt(container, 'resources')
  const { claims, ...before } = objectAt(old, 'resources')
  return (
    (claims === undefined || (Array.isArray(claims) && claims.length === 0)) &&
    equalValues({ ...container, resources: atSizeOf(resources, before) }, { ...old, resources: withoutEmpty(before) })
  )
}

/** The new resources with the old cpu and memory. */
function atSizeOf(resources: ValueObject, old: ValueObject): ValueObject {
  const result: ValueObject = { ...resources }
  for (const amounts of AMOUNTS) {
    const others = Object.entries(objectAt(resources, amounts)).filter(([name]) => !RESIZABLE.has(name))
    const kept = Object.entries(objectAt(old, amounts)).filter(([name]) => RESIZABLE.has(name))
    result[amounts] = Object.fromEntries([...others, ...kept])
  }
  return withoutEmpty(result)
}

function withoutEmpty(resources: ValueObject): ValueObject {
  const result: ValueObject = { ...resources }
  for (const amounts of AMOUNTS) if (Object.keys(objectAt(result, amounts)).length === 0) delete result[amounts]
  return result
}
