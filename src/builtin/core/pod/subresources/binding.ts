// Binding: assigns a pod to a node.

import { asString, type FieldError, fieldNotSupported, fieldRequired } from '../../../../meta/errors/field-errors.js'
import { quote } from '../../../../meta/go/go-text.js'
import { type ApiObject } from '../../../../meta/object/api-object.js'
import { metaOf } from '../../../../meta/object/object-meta.js'
import { ensureObject, objectAt, objectsAt, stringAt } from '../../../../meta/values/access.js'
import { copyValue, type ValueObject } from '../../../../meta/values/value.js'
import { setPodCondition } from './status.js'

export function bindingErrors(binding: ValueObject): FieldError[] {
  const target = objectAt(binding, 'target')
  const kind = stringAt(target, 'kind')
  return [
    ...(kind === '' || kind === 'Node' ? [] : [fieldNotSupported('target.kind', asString(kind), ['Node', '<empty>'])]),
    ...(stringAt(target, 'name') === '' ? [fieldRequired('target.name')] : []),
  ]
}

/** The reason why a pod cannot be bound; undefined if it can. */
export function unbindable(pod: ApiObject): string | undefined {
  const { name = '', deletionTimestamp } = metaOf(pod)
  const spec = objectAt(pod, 'spec')
  const node = stringAt(spec, 'nodeName')
  if (deletionTimestamp !== undefined) return `pod ${name} is being deleted, cannot be assigned to a host`
  if (node !== '') return `pod ${name} is already assigned to node ${quote(node)}`
  return objectsAt(spec, 'schedulingGates').length > 0 ? `pod ${name} has non-empty .spec.schedulingGates` : undefined
}

/** The pod on the node of the binding, with the labels and annotations of the binding. */
export function bound(
  pod: ApiObject,
  binding: ApiObject,
  { now, clearsNomination }: { readonly now: string; readonly clearsNomination: boolean },
): ApiObject {
  const changed = copyValue(pod)
  ensureObject(changed, 'spec')['nodeName'] = stringAt(objectAt(binding, 'target'), 'name')
  for (const field of ['labels', 'annotations']) {
    const given = objectAt(binding.metadata, field)
    if (Object.keys(given).length > 0) Object.assign(ensureObject(changed.metadata, field), given)
  }
  // The node that the scheduler had nominated before would only mislead.
  if (clearsNomination) delete ensureObject(changed, 'status')['nominatedNodeName']
  setPodCondition(ensureObject(changed, 'status'), { type: 'PodScheduled', status: 'True' }, now)
  return changed
}
