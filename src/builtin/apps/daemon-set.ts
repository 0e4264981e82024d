// DaemonSet: a pod of one template on each node.
import {
  childPath,
  type FieldError,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import { ensureObject, mapAt, numberAt, objectAt, setDefault } from '../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { sameValue } from '../common/field-checks.js'
import { asGoStruct } from '../common/go-struct.js'
import { check, field, notNegative, optional, type Rule, required, union } from '../common/rules.js'
import {
  counted,
  countSpecChanges,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  type PrepareForUpdate,
} from '../common/strategies.js'
import { ageOf, nameOf, printLabels, type TableRow } from '../common/table-cells.js'
import { templateWarnings } from '../core/pod/warnings.js'
import {
  checkAtMaxAll,
  checkCount,
  containerCells,
  countOrPercent,
  defaultRollingUpdate,
  growingCollisionCount,
  podOwner,
  selectorAndTemplate,
  selectorCell,
  specWithTemplate,
} from './pod-owner.js'

// ---- defaults and strategy

function defaults(set: ValueObject): void {
  const spec = specWithTemplate(set)
  defaultRollingUpdate(spec, 'updateStrategy', { maxUnavailable: 1, maxSurge: 0 })
  setDefault(spec, 'revisionHistoryLimit', 10, false)
  // Every daemon set has the annotation as soon as it is read, so that its manager owns it.
  const annotations = ensureObject(ensureObject(set, 'metadata'), 'annotations')
  setDefault(annotations, TEMPLATE_GENERATION, '0')
}

/** This annotation counts the changes of the template, as a field of the spec did in versions that are gone. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

function templateGenerationOf(set: ValueObject): number {
  const text = mapAt(objectAt(set, 'metadata'), 'annotations')[TEMPLATE_GENERATION] ?? ''
  return /^[+-]?\d+$/.test(text) ? Number(text) : 0
}

function setTemplateGeneration(set: ValueObject, generation: number): void {
  ensureObject(ensureObject(set, 'metadata'), 'annotations')[TEMPLATE_GENERATION] = String(generation)
}

/** The count is a part of the spec, which a write to the status does not change. */
const keepTemplateGeneration: PrepareForUpdate = (set, old) => setTemplateGeneration(set, templateGenerationOf(old))

const countTemplateChanges: PrepareForUpdate = (set, old) => {
  const before = templateGenerationOf(old)
  const isSame = sameValue(getOwn(objectAt(set, 'spec'), 'template'), getOwn(objectAt(old, 'spec'), 'template'))
  setTemplateGeneration(set, isSame ? before : before + 1)
}

// ---- validation

/** A node either loses its pod before it gets the next one, or has both for a while. */
function checkRollingUpdate(rolling: ValueObject, path: string): FieldError[] {
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

const updateStrategyRules: readonly Rule[] = [
  union(
    'type',
    {
      OnDelete: [],
      RollingUpdate: [required('rollingUpdate'), optional('rollingUpdate', [check(checkRollingUpdate)])],
    },
    [
      check((strategy, path) => {
        const shown = asGoStruct('apps/v1.DaemonSetUpdateStrategy', strategy)
        return [fieldNotSupported(path, shown, ['RollingUpdate', 'OnDelete'])]
      }),
    ],
  ),
]

// ---- Table

const COUNT_COLUMNS = [
  'desiredNumberScheduled',
  'currentNumberScheduled',
  'numberReady',
  'updatedNumberScheduled',
  'numberAvailable',
]

const row: TableRow = (set, now) => {
  const spec = objectAt(set, 'spec')
  const status = objectAt(set, 'status')
  return [
    nameOf(set),
    ...COUNT_COLUMNS.map(name => numberAt(status, name)),
    printLabels(mapAt(objectAt(objectAt(spec, 'template'), 'spec'), 'nodeSelector')),
    ageOf(set, now),
    ...containerCells(spec),
    selectorCell(spec),
  ]
}

export const daemonSet = defineKind('apps/v1', 'DaemonSet', {
  defaults,
  strategy: counted('apps/v1.DaemonSetStatus', {
    prepareForCreate: set => {
      const given = templateGenerationOf(set)
      setTemplateGeneration(set, given >= 1 ? given : 1)
    },
    prepareForUpdate: inTurn(keepGeneration, keepStatus, countTemplateChanges, countSpecChanges),
    prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, keepTemplateGeneration),
  }),
  validation: podOwner({
    spec: [
      selectorAndTemplate({ owner: 'daemonset', podOwner: 'DaemonSet', required: false }),
      notNegative('minReadySeconds'),
      field('updateStrategy', updateStrategyRules),
      notNegative('revisionHistoryLimit'),
    ],
    status: [
      notNegative(
        'currentNumberScheduled',
        'numberMisscheduled',
        'desiredNumberScheduled',
        'numberReady',
        'observedGeneration',
        'updatedNumberScheduled',
        'numberAvailable',
        'numberUnavailable',
        'collisionCount',
      ),
      growingCollisionCount,
    ],
  }),
  warnings: templateWarnings('spec.template'),
  table: row,
})
