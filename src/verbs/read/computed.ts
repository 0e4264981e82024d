// get and list of objects that are not stored: they are found out for each request. Versions, limits and pages of the
// options have no meaning for them.
import type { ComputedObjects } from '../../kinds/kind.js'
import { notFound } from '../../meta/errors/status.js'
import type { ListOptions } from '../../meta/options/list-options.js'
import { viewValue } from '../../objects/object-view.js'
import { selectionOf } from '../../objects/selection.js'
import type { Target } from '../../request/target.js'
import type { ListResult, ObjectResult } from '../result.js'
import { once } from './list.js'

export async function getComputed(objects: ComputedObjects, target: Target): Promise<ObjectResult> {
  const { kind, name } = target
  const object = await objects.get(name)
  // kube-apiserver has the singular name in this message.
  if (!object) throw notFound({ group: kind.group, resource: kind.names.singular }, name)
  return { type: 'object', status: 200, versioned: target, object: viewValue(object) }
}

export async function listComputed(
  objects: ComputedObjects,
  target: Target,
  options: ListOptions,
): Promise<ListResult> {
  const selection = selectionOf(target.version, options)
  const selected = (await objects.list()).filter(object => selection.matchesObject(object)).map(viewValue)
  return { type: 'list', status: 200, versioned: target, pages: once(selected) }
}
