// Deployment: replica sets of one template after another.
import { childPath, type FieldError, fieldInvalid, fieldNotSupported } from '../../meta/errors/field-errors.js'
import { ensureObject, keepFrom, numberAt, numberOrNone, objectAt, setDefault } from '../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkNotNegative } from '../common/field-checks.js'
import { asGoStruct } from '../common/go-struct.js'
import { check, field, forbidden, notNegative, optional, type Rule, required, union } from '../common/rules.js'
import {
  counted,
  countGeneration,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  type PrepareForUpdate,
  same,
} from '../common/strategies.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { templateWarnings } from '../core/pod/warnings.js'
import {
  checkAtMaxAll,
  checkCount,
  containerCells,
  countOrPercent,
  defaultRollingUpdate,
  growingCollisionCount,
  podOwner,
  readyCell,
  selectorAndTemplate,
  selectorCell,
  specWithTemplate,
  statusCounts,
} from './pod-owner.js'

// ---- defaults and strategy

function defaults(deployment: ValueObject): void {
  const spec = specWithTemplate(deployment)
  setDefault(spec, 'replicas', 1, false)
  defaultRollingUpdate(spec, 'strategy', { maxUnavailable: '25%', maxSurge: '25%' })
  setDefault(spec, 'revisionHistoryLimit', 10, false)
  setDefault(spec, 'progressDeadlineSeconds', 600, false)
}

/** The controller copies annotations to the replica sets, so a change of them is a new generation too. */
const countChanges: PrepareForUpdate = (object, old) => {
  const unchanged =
    same(object, old, 'spec') && same(objectAt(object, 'metadata'), objectAt(old, 'metadata'), 'annotations')
  if (!unchanged) countGeneration(object, old)
}

const keepLabels: PrepareForUpdate = (object, old) =>
  keepFrom(ensureObject(object, 'metadata'), objectAt(old, 'metadata'), 'labels')

// ---- validation

const rollingUpdateRules: readonly Rule[] = [
  check((rolling, path) => {
    const unavailable = getOwn(rolling, 'maxUnavailable') ?? 0
    const surge = getOwn(rolling, 'maxSurge') ?? 0
    const at = childPath(path, 'maxUnavailable')
    const errors = [...checkCount(unavailable, at), ...checkCount(surge, childPath(path, 'maxSurge'))]
    if (countOrPercent(unavailable) === 0 && countOrPercent(surge) === 0) {
      errors.push(fieldInvalid(at, unavailable, 'may not be 0 when `maxSurge` is 0'))
    }
    return [...errors, ...checkAtMaxAll(unavailable, at)]
  }),
]

const strategyRules: readonly Rule[] = [
  union(
    'type',
    {
      Recreate: [forbidden('rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")],
      RollingUpdate: [
        required('rollingUpdate', 'this should be defaulted and never be nil'),
        optional('rollingUpdate', rollingUpdateRules),
      ],
    },
    [
      check((strategy, path) => {
        const shown = asGoStruct('apps/v1.DeploymentStrategy', strategy)
        return [fieldNotSupported(path, shown, ['Recreate', 'RollingUpdate'])]
      }),
    ],
  ),
]

function checkProgressDeadline(spec: ValueObject, path: string): FieldError[] {
  const at = childPath(path, 'progressDeadlineSeconds')
  const deadline = numberOrNone(spec, 'progressDeadlineSeconds')
  if (deadline === undefined) return []
  const errors = checkNotNegative(deadline, at)
  if (deadline <= numberAt(spec, 'minReadySeconds')) {
    errors.push(fieldInvalid(at, deadline, 'must be greater than minReadySeconds'))
  }
  return errors
}

// ---- Table

const row: TableRow = (object, now) => {
  const spec = objectAt(object, 'spec')
  const status = objectAt(object, 'status')
  return [
    nameOf(object),
    readyCell(spec, status),
    numberAt(status, 'updatedReplicas'),
    numberAt(status, 'availableReplicas'),
    ageOf(object, now),
    ...containerCells(spec),
    selectorCell(spec),
  ]
}

export const deployment = defineKind('apps/v1', 'Deployment', {
  defaults,
  strategy: counted('apps/v1.DeploymentStatus', {
    prepareForUpdate: inTurn(keepGeneration, keepStatus, countChanges),
    prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, keepLabels),
  }),
  statusReset: ['metadata.labels'],
  validation: podOwner({
    spec: [
      notNegative('replicas'),
      selectorAndTemplate({ owner: 'deployment', podOwner: 'ReplicaSet' }),
      field('strategy', strategyRules),
      notNegative('minReadySeconds', 'revisionHistoryLimit'),
      check(checkProgressDeadline),
    ],
    status: [
      statusCounts(
        ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
        ['observedGeneration', 'unavailableReplicas', 'terminatingReplicas', 'collisionCount'],
      ),
      growingCollisionCount,
    ],
  }),
  warnings: templateWarnings('spec.template', { isNamed: true }),
  table: row,
})
