// ResourceQuota: how much all objects of a namespace, or those in a scope, may use together.
import {
  asStruct,
  asTypedText,
  childPath,
  type FieldError,
  fieldInvalid,
  fieldRequired,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { mapAt, objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { asGiven } from '../../meta/values/given-empty.js'
import { printQuantity, signOf } from '../../meta/values/quantity.js'
import type { ValueObject } from '../../meta/values/value.js'
import { statusApart } from '../common/build-kind.js'
import { defineKind } from '../common/define-kind.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, field, type Rule } from '../common/rules.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import {
  amountOf,
  COUNTED_RESOURCES,
  checkResourceName,
  isInteger,
  isIntegerResource,
} from './pod/containers/container-resources.js'

const scopesAreKept = checkUpdate((spec, old) => {
  const scopes = stringsAt(spec, 'scopes')
  const before = new Set(stringsAt(old, 'scopes'))
  const isSame = new Set(scopes).size === before.size && scopes.every(scope => before.has(scope))
  return isSame ? [] : [fieldInvalid('spec.scopes', asGiven(spec, 'scopes'), 'field is immutable')]
})

// ---- amounts

const POD_COMPUTE = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']

const QUOTA_RESOURCES: ReadonlySet<string> = new Set([
  ...POD_COMPUTE,
  ...COUNTED_RESOURCES,
  'ephemeral-storage',
  'requests.ephemeral-storage',
  'limits.ephemeral-storage',
  'requests.storage',
])

const isQuotaResource = (name: string): boolean => QUOTA_RESOURCES.has(name) || /^(requests\.)?hugepages-/.test(name)

const checkAmounts = (amounts: ValueObject, path: string): FieldError[] =>
  Object.keys(amounts).flatMap(name => checkAmount(amounts, name, keyPath(path, name)))

function checkAmount(amounts: ValueObject, name: string, path: string): FieldError[] {
  const errors = checkResourceName(name, path)
  if (!name.includes('/') && !isQuotaResource(name)) {
    errors.push(fieldInvalid(path, asTypedText(name), 'must be a standard resource for quota'))
  }
  const amount = amountOf(amounts, name)
  if (amount === undefined) return errors
  if (signOf(amount) < 0) errors.push(fieldInvalid(path, printQuantity(amount), 'must be greater than or equal to 0'))
  if (isIntegerResource(name) && !isInteger(amount)) {
    errors.push(fieldInvalid(path, printQuantity(amount), 'must be an integer'))
  }
  return errors
}

// ---- scopes

const PODS = new Set(['pods'])
const PODS_AND_COMPUTE = new Set(['pods', ...POD_COMPUTE])
const CLAIMS = new Set(['persistentvolumeclaims', 'requests.storage'])

/** The resources that a quota with this scope can limit. */
const SCOPES: Readonly<Record<string, ReadonlySet<string> | undefined>> = {
  Terminating: PODS_AND_COMPUTE,
  NotTerminating: PODS_AND_COMPUTE,
  BestEffort: PODS,
  NotBestEffort: PODS_AND_COMPUTE,
  PriorityClass: PODS_AND_COMPUTE,
  CrossNamespacePodAffinity: PODS_AND_COMPUTE,
  VolumeAttributesClass: CLAIMS,
}

const resourcesOf = (scope: string): ReadonlySet<string> | undefined =>
  Object.hasOwn(SCOPES, scope) ? SCOPES[scope] : undefined

/** The resources of a quota that its scope cannot limit. */
function misplaced(spec: ValueObject, scope: string): string[] {
  const known = resourcesOf(scope)
  if (known === undefined) return []
  return Object.keys(objectAt(spec, 'hard')).filter(name => isQuotaResource(name) && !known.has(name))
}

const CONFLICTS = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const

const conflictsIn = (scopes: readonly string[]): number =>
  CONFLICTS.filter(pair => pair.every(scope => scopes.includes(scope))).length

function checkScopes(spec: ValueObject): FieldError[] {
  const scopes = stringsAt(spec, 'scopes')
  const shown = [...scopes]
  const invalid = (why: string): FieldError => fieldInvalid('spec.scopes', shown, why)
  const errors: FieldError[] = []
  for (const scope of scopes) {
    if (resourcesOf(scope) === undefined) errors.push(invalid('unsupported scope'))
    errors.push(...misplaced(spec, scope).map(() => invalid('unsupported scope applied to resource')))
  }
  for (let i = 0; i < conflictsIn(scopes); i++) errors.push(invalid('conflicting scopes'))
  return errors
}

/** Scopes without values. */
const PLAIN_SCOPES: ReadonlySet<string> = new Set([
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'CrossNamespacePodAffinity',
])

const MUST_EXIST =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, " +
  'ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity'

function checkScopeSelector(spec: ValueObject): FieldError[] {
  const selector = objectOrNone(spec, 'scopeSelector')
  if (selector === undefined) return []
  const path = 'spec.scopeSelector.matchExpressions'
  const expressions = objectsAt(selector, 'matchExpressions')
  const shown = asStruct({ MatchExpressions: expressions.map(expressionInGo) })
  const errors = expressions.flatMap(expression => {
    const scope = stringAt(expression, 'scopeName')
    return [
      resourcesOf(scope) === undefined
        ? [fieldInvalid(childPath(path, 'scopeName'), asTypedText(scope), 'unsupported scope')]
        : misplaced(spec, scope).map(() => fieldInvalid(path, shown, 'unsupported scope applied to resource')),
      checkOperator(expression, path),
    ].flat()
  })
  for (let i = 0; i < conflictsIn(expressions.map(expression => stringAt(expression, 'scopeName'))); i++) {
    errors.push(fieldInvalid(path, [...stringsAt(spec, 'scopes')], 'conflicting scopes'))
  }
  return errors
}

const expressionInGo = (expression: ValueObject): ValueObject => ({
  ScopeName: stringAt(expression, 'scopeName'),
  Operator: stringAt(expression, 'operator'),
  Values: asGiven(expression, 'values'),
})

function checkOperator(expression: ValueObject, path: string): FieldError[] {
  const operator = stringAt(expression, 'operator')
  const values = stringsAt(expression, 'values')
  const valuesPath = childPath(path, 'values')
  const invalid = (why: string): FieldError => fieldInvalid(childPath(path, 'operator'), asTypedText(operator), why)
  const isPlain = PLAIN_SCOPES.has(stringAt(expression, 'scopeName'))
  const errors = isPlain && operator !== 'Exists' ? [invalid(MUST_EXIST)] : []
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) return errors
      return [
        ...errors,
        fieldRequired(valuesPath, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"),
      ]
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return errors
      return [
        ...errors,
        fieldInvalid(
          valuesPath,
          [...values],
          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
        ),
      ]
    default:
      return [...errors, invalid('not a valid selector operator')]
  }
}

// ---- Table

/** Used and allowed amounts: `cpu: 1/2, pods: 3/5`; limits have a cell of their own. */
const row: TableRow = (quota, now) => {
  const status = objectAt(quota, 'status')
  const [used, hard] = [mapAt(status, 'used'), mapAt(status, 'hard')]
  const names = Object.keys(hard).toSorted()
  const shown = (ofLimits: boolean): string =>
    names
      .filter(name => name.startsWith('limits') === ofLimits)
      .map(name => `${name}: ${Object.hasOwn(used, name) ? used[name]! : '0'}/${hard[name]!}`)
      .join(', ')
  return [nameOf(quota), shown(false), shown(true), ageOf(quota, now)]
}

const amounts = (name: string): Rule => check((object, path) => checkAmounts(mapAt(object, name), `${path}.${name}`))

const specRules: readonly Rule[] = [amounts('hard'), check(checkScopes), check(checkScopeSelector)]

export const resourceQuota = defineKind('v1', 'ResourceQuota', {
  strategy: statusApart('v1', 'ResourceQuota', { returnsDeletedObject: true }),
  validation: validationRules({
    create: [metadata({ namespaced: true }), field('spec', specRules)],
    update: [metadataUpdate, field('spec', [...specRules, scopesAreKept])],
    status: [metadataUpdate, field('status', [amounts('hard'), amounts('used')])],
  }),
  table: row,
})
