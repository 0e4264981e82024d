// PriorityLevelConfiguration: how many requests of a level run at once, and how the others wait.
import { type FieldError, fieldForbidden, fieldInvalid, fieldRequired } from '../../meta/errors/field-errors.js'
import {
  ensureObject,
  has,
  numberAt,
  numberOrNone,
  objectAt,
  objectOrNone,
  setDefault,
  stringAt,
} from '../../meta/values/access.js'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkOneOf } from '../common/field-checks.js'
import { check } from '../common/rules.js'
import { counted, statusAlone } from '../common/strategies.js'
import { ageOf, NONE, nameOf, type TableRow } from '../common/table-cells.js'
import { MANDATORY_LEVELS } from './bootstrap-objects.js'
import { fixedSpec, flowControlValidation } from './flow-control-rules.js'

function defaults(level: ValueObject): void {
  const spec = ensureObject(level, 'spec')
  const [exempt, limited] = [objectOrNone(spec, 'exempt'), objectOrNone(spec, 'limited')]
  if (exempt !== undefined) setDefault(exempt, 'nominalConcurrencyShares', 0, false)
  if (limited !== undefined) setDefault(limited, 'nominalConcurrencyShares', 30, false)
  for (const shares of [exempt, limited]) if (shares !== undefined) setDefault(shares, 'lendablePercent', 0, false)
  const queuing = objectOrNone(objectAt(limited ?? {}, 'limitResponse'), 'queuing')
  if (queuing === undefined) return
  setDefault(queuing, 'queues', 64)
  setDefault(queuing, 'handSize', 8)
  setDefault(queuing, 'queueLengthLimit', 50)
}

// ---- validation

/** The shares of the exempt level may be changed; everything else of it is fixed. */
const withFixedShares = (spec: ValueObject, name: string): ValueObject =>
  name === 'exempt' && has(spec, 'exempt') ? { ...spec, exempt: MANDATORY_LEVELS['exempt']!['exempt']! } : spec

const MAX_QUEUES = 10_000_000

function checkLevelSpec(spec: ValueObject, name: string): FieldError[] {
  const type = stringAt(spec, 'type')
  const isMismatch = (name === 'exempt') !== (type === 'Exempt')
  const errors = isMismatch
    ? [fieldInvalid('spec.type', type, "must be 'Exempt' if and only if `name` is 'exempt'")]
    : []
  switch (type) {
    case 'Exempt':
      if (has(spec, 'limited')) errors.push(fieldForbidden('spec.limited', 'must be nil if the type is not Limited'))
      return has(spec, 'exempt') ? [...errors, ...checkShares(objectAt(spec, 'exempt'), 'spec.exempt')] : errors
    case 'Limited':
      if (has(spec, 'exempt')) errors.push(fieldForbidden('spec.exempt', 'must be nil if the type is Limited'))
      if (!has(spec, 'limited')) {
        return [...errors, fieldRequired('spec.limited', 'must not be empty when type is Limited')]
      }
      return [...errors, ...checkLimited(objectAt(spec, 'limited'), 'spec.limited')]
    default:
      return [...errors, ...checkOneOf(type, ['Exempt', 'Limited'], 'spec.type', { required: true })]
  }
}

function checkShares(level: ValueObject, path: string): FieldError[] {
  const shares = numberAt(level, 'nominalConcurrencyShares')
  const lendable = numberOrNone(level, 'lendablePercent') ?? 0
  return [
    ...(shares < 0 ? [fieldInvalid(`${path}.nominalConcurrencyShares`, shares, 'must be a non-negative integer')] : []),
    ...(lendable < 0 || lendable > 100
      ? [fieldInvalid(`${path}.lendablePercent`, lendable, 'must be between 0 and 100, inclusive')]
      : []),
  ]
}

function checkLimited(limited: ValueObject, path: string): FieldError[] {
  const borrowing = numberOrNone(limited, 'borrowingLimitPercent') ?? 0
  return [
    ...checkShares(limited, path),
    ...(borrowing < 0
      ? [fieldInvalid(`${path}.borrowingLimitPercent`, borrowing, 'if specified, must be a non-negative integer')]
      : []),
    ...checkResponse(objectAt(limited, 'limitResponse'), `${path}.limitResponse`),
  ]
}

function checkResponse(response: ValueObject, path: string): FieldError[] {
  const queuing = objectOrNone(response, 'queuing')
  const at = `${path}.queuing`
  switch (stringAt(response, 'type')) {
    case 'Reject':
      return queuing === undefined
        ? []
        : [fieldForbidden(at, 'must be nil if limited.limitResponse.type is not Limited')]
    case 'Queue':
      return queuing === undefined
        ? [fieldRequired(at, 'must not be empty if limited.limitResponse.type is Limited')]
        : checkQueuing(queuing, at)
    default:
      return checkOneOf(stringAt(response, 'type'), ['Queue', 'Reject'], `${path}.type`, { required: true })
  }
}

function checkQueuing(queuing: ValueObject, path: string): FieldError[] {
  const [queues, hand, length] = ['queues', 'handSize', 'queueLengthLimit'].map(field => numberAt(queuing, field)) as [
    number,
    number,
    number,
  ]
  const refused = (field: string, value: number, why: string): FieldError[] => [
    fieldInvalid(`${path}.${field}`, value, why),
  ]
  return [
    ...(length <= 0 ? refused('queueLengthLimit', length, 'must be positive') : []),
    ...(queues <= 0 ? refused('queues', queues, 'must be positive') : []),
    ...(queues > MAX_QUEUES ? refused('queues', queues, `must not be greater than ${MAX_QUEUES}`) : []),
    ...(hand <= 0
      ? refused('handSize', hand, 'must be positive')
      : hand > queues
        ? refused('handSize', hand, `should not be greater than queues (${queues})`)
        : checkEntropy(queues, hand, `${path}.handSize`)),
  ]
}

const HASH_BITS = 60

/** The hash of a request must have enough bits for every choice of `hand` among the queues. */
function checkEntropy(queues: number, hand: number, path: string): FieldError[] {
  if (Math.ceil(Math.log2(queues) * hand) <= HASH_BITS) return []
  const why = `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${HASH_BITS}`
  return [fieldInvalid(path, hand, why)]
}

// ---- Table

const row: TableRow = (level, now) => {
  const spec = objectAt(level, 'spec')
  const limited = objectAt(spec, 'limited')
  const queuing = objectAt(objectAt(limited, 'limitResponse'), 'queuing')
  const count = (object: ValueObject, field: string): Value => (has(object, field) ? numberAt(object, field) : NONE)
  return [
    nameOf(level),
    stringAt(spec, 'type'),
    count(limited, 'nominalConcurrencyShares'),
    ...['queues', 'handSize', 'queueLengthLimit'].map(field => count(queuing, field)),
    ageOf(level, now),
  ]
}

export const priorityLevelConfiguration = defineKind('flowcontrol.apiserver.k8s.io/v1', 'PriorityLevelConfiguration', {
  defaults,
  strategy: counted('flowcontrol/v1.PriorityLevelConfigurationStatus', {
    prepareForStatusUpdate: statusAlone,
  }),
  statusReset: ['metadata'],
  validation: flowControlValidation([
    check(level => checkLevelSpec(objectAt(level, 'spec'), nameOf(level))),
    fixedSpec(MANDATORY_LEVELS, 'flowcontrol/v1.PriorityLevelConfigurationSpec', withFixedShares),
  ]),
  table: row,
})
