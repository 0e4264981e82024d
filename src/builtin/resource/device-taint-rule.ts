// DeviceTaintRule: a taint that an administrator adds to all devices that a selector matches.
import { fieldTooMany } from '../../meta/errors/field-errors.js'
import { ageCell } from '../../meta/table.js'
import { ensureObject, has, objectAt, objectsAt, setDefault, stringAt } from '../../meta/values/access.js'
import { printTime } from '../../meta/values/time.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { checkConditions } from '../common/conditions.js'
import { defineKind } from '../common/define-kind.js'
import { checkDriverName } from '../common/driver-name.js'
import { earlierVersion } from '../common/earlier-version.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, field, ifSet, optional } from '../common/rules.js'
import { counted, countSpecChanges, inTurn, keepGeneration, keepStatus, statusAlone } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { checkLabel, checkPoolName } from './device-names.js'
import { checkTaint } from './device-rules.js'

const MAX_CONDITIONS = 8

const taintOf = (rule: ValueObject): ValueObject => objectAt(objectAt(rule, 'spec'), 'taint')

/** A taint without a time was added now. */
const dateTaint = (rule: ValueObject, now: number): void =>
  setDefault(ensureObject(ensureObject(rule, 'spec'), 'taint'), 'timeAdded', printTime(now))

/** The time is that of the effect: another effect with the same time begins now. */
function dateEffect(rule: ValueObject, old: ValueObject, { now }: { readonly now: string }): void {
  const [taint, before] = [taintOf(rule), taintOf(old)]
  const isSame = (name: string): boolean => stringAt(taint, name) === stringAt(before, name)
  if (!isSame('effect') && isSame('timeAdded')) taint['timeAdded'] = now
}

const selectorRules = [
  ifSet('driver', [check((selector, path) => checkDriverName(stringAt(selector, 'driver'), `${path}.driver`))]),
  ifSet('pool', [check((selector, path) => checkPoolName(stringAt(selector, 'pool'), `${path}.pool`))]),
  ifSet('device', [check((selector, path) => checkLabel(stringAt(selector, 'device'), `${path}.device`))]),
]

const spec = field('spec', [
  optional('deviceSelector', selectorRules),
  check((object, path, old) => {
    const [taint, before] = [objectAt(object, 'taint'), old && objectAt(old, 'taint')]
    const isSameEffect = before !== undefined && getOwn(before, 'effect') === getOwn(taint, 'effect')
    const errors = checkTaint(taint, `${path}.taint`)
    return isSameEffect ? errors.filter(error => error.field !== `${path}.taint.effect`) : errors
  }),
])

const conditions = checkUpdate(rule => {
  const path = 'status.conditions'
  const given = objectsAt(objectAt(rule, 'status'), 'conditions')
  const errors = checkConditions(given, path)
  return given.length > MAX_CONDITIONS ? [...errors, fieldTooMany(path, given.length, MAX_CONDITIONS)] : errors
})

const deviceTaintRule = defineKind('resource.k8s.io/v1beta2', 'DeviceTaintRule', {
  storedAs: 'resource.k8s.io/v1alpha3',
  defaults: dateTaint,
  strategy: counted('resource/v1beta2.DeviceTaintRuleStatus', {
    prepareForUpdate: inTurn(dateEffect, keepGeneration, keepStatus, countSpecChanges),
    prepareForStatusUpdate: statusAlone,
    returnsDeletedObject: true,
    subresourcesWithoutTable: ['status'],
  }),
  statusReset: ['metadata'],
  validation: validationRules({
    create: [metadata({ namespaced: false }), spec],
    update: [metadataUpdate, spec],
    status: [metadataUpdate, conditions],
  }),
  table: (rule, now) => {
    const taint = taintOf(rule)
    const added = has(taint, 'timeAdded') ? ageCell(taint['timeAdded'], now) : ''
    return [nameOf(rule), ...['key', 'value', 'effect'].map(name => stringAt(taint, name)), added, ageOf(rule, now)]
  },
})

export const deviceTaintRules = [deviceTaintRule, earlierVersion(deviceTaintRule, 'v1alpha3', { since: 36 })]
