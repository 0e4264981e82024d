// Daemon sets: a pod of one template on each node.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import { objectAt, objectOrNone, stringAt } from '../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import {
  checkAtMaxAll,
  checkCount,
  checkCounts,
  checkSelectorAndTemplate,
  countOrPercent,
  podOwnerValidation,
} from './pod-owners.js'

const STATUS_COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
]

export const daemonSetValidation = podOwnerValidation(
  spec => [
    ...checkSelectorAndTemplate(spec, { owner: 'daemonset', podOwner: 'DaemonSet', required: false }),
    ...checkCounts(spec, ['minReadySeconds'], 'spec'),
    ...checkStrategy(objectAt(spec, 'updateStrategy')),
    ...checkCounts(spec, ['revisionHistoryLimit'], 'spec'),
  ],
  status => checkCounts(status, STATUS_COUNTS, 'status'),
)

function checkStrategy(strategy: ValueObject): FieldError[] {
  const path = 'spec.updateStrategy'
  const type = stringAt(strategy, 'type')
  const rolling = objectOrNone(strategy, 'rollingUpdate')
  if (type === 'OnDelete') return []
  if (type !== 'RollingUpdate') {
    const shown = asStruct({ Type: type, RollingUpdate: rolling ?? null })
    return [fieldNotSupported(path, shown, ['RollingUpdate', 'OnDelete'])]
  }
  const at = childPath(path, 'rollingUpdate')
  return rolling === undefined ? [fieldRequired(at)] : checkRolling(rolling, at)
}

/** A node loses its pod before it gets the next, or has both for a while: one of the two. */
function checkRolling(rolling: ValueObject, path: string): FieldError[] {
  const counts = ['maxUnavailable', 'maxSurge'].map(name => ({
    count: getOwn(rolling, name) ?? 0,
    at: childPath(path, name),
  }))
  const [unavailable, surge] = counts as [(typeof counts)[0], (typeof counts)[0]]
  const errors = [
    ...counts.flatMap(({ count, at }) => checkCount(count, at)),
    ...counts.flatMap(({ count, at }) => checkAtMaxAll(count, at)),
  ]
  const mayLose = countOrPercent(unavailable.count) !== 0
  const mayAdd = countOrPercent(surge.count) !== 0
  if (!mayLose && !mayAdd) errors.push(fieldRequired(unavailable.at, 'cannot be 0 when maxSurge is 0'))
  if (mayLose && mayAdd) {
    errors.push(fieldInvalid(surge.at, surge.count, 'may not be set when maxUnavailable is non-zero'))
  }
  return errors
}
