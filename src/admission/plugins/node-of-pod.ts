// The node of a pod whose spec changes, for plugins that check the change against it.
import { quote } from '../../meta/go/go-text.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'
import { type Attributes, forbiddenBy } from '../attributes.js'

const NODE = { group: '', kind: 'Node' }

export interface SpecChange {
  readonly spec: ValueObject
  readonly oldSpec: ValueObject
}

/** Undefined if the pod has no node yet, or its spec stays as it is. */
export function changeOnNode({ object, oldObject }: Attributes): SpecChange | undefined {
  if (!object || !oldObject) return undefined
  const change = { spec: objectAt(object, 'spec'), oldSpec: objectAt(oldObject, 'spec') }
  return stringAt(change.spec, 'nodeName') === '' || equalValues(change.spec, change.oldSpec) ? undefined : change
}

/** The change is refused if the node does not exist. */
export async function nodeOf(objects: Lister, attributes: Attributes, { spec }: SpecChange): Promise<ApiObject> {
  const name = stringAt(spec, 'nodeName')
  const node = await objects.find(NODE, '', name)
  if (!node) throw forbiddenBy(attributes, `node ${quote(name)} not found`)
  return node
}
