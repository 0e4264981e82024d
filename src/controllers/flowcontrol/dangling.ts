// The condition `Dangling` of a FlowSchema: whether the priority level that it names exists. It is applied to the status by
// the manager that kube-apiserver uses.
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { printTime } from '../../meta/values/time.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { componentObjects, type SystemObjects } from '../../verbs/system-writes.js'

const TYPE = 'Dangling'

/** Writes of the server itself, as one of the two managers of flow control objects. */
const asManager = (context: ApiContext, manager: string): SystemObjects =>
  componentObjects(context, { user: 'system:apiserver', groups: ['system:masters'], manager })

/** Creates and updates the objects that every cluster has. */
export const flowConfigProducer = (context: ApiContext): SystemObjects =>
  asManager(context, 'api-priority-and-fairness-config-producer-v1')

/** Reads the objects, and says in their status what it made of them. */
export const flowConfigConsumer = (context: ApiContext): SystemObjects =>
  asManager(context, 'api-priority-and-fairness-config-consumer-v1')

export const levelNameOf = (schema: ValueObject): string =>
  stringAt(objectAt(objectAt(schema, 'spec'), 'priorityLevelConfiguration'), 'name')

/** What is to be applied to the status; undefined if it says so already. */
export function danglingStatus(schema: ApiObject, hasLevel: boolean, now: number): AppliedStatus | undefined {
  const level = JSON.stringify(levelNameOf(schema))
  const wanted = {
    status: hasLevel ? 'False' : 'True',
    reason: hasLevel ? 'Found' : 'NotFound',
    message: `This FlowSchema references the PriorityLevelConfiguration object named ${level} ${
      hasLevel ? 'and it exists' : 'but there is no such object'
    }`,
  }
  const current = objectsAt(objectAt(schema, 'status'), 'conditions').find(each => stringAt(each, 'type') === TYPE)
  const fields = Object.keys(wanted) as (keyof typeof wanted)[]
  if (current && fields.every(field => stringAt(current, field) === wanted[field])) return undefined
  const condition = { type: TYPE, ...wanted, lastTransitionTime: printTime(now) }
  return { metadata: { name: metaOf(schema).name ?? '' }, status: { conditions: [condition] } }
}

export type AppliedStatus = ValueObject & { metadata: ValueObject }
