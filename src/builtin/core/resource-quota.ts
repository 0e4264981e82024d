// Resource quotas: how much all objects of a namespace, or those in a scope, may take together.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldInvalid,
  fieldRequired,
  keyPath,
} from '../../meta/errors/field-errors.js'
import { mapAt, objectAt, objectOrNone, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { printQuantity, signOf } from '../../meta/values/quantity.js'
import type { ValueObject } from '../../meta/values/value.js'
import { checkMeta, checkMetaUpdate } from '../common/metadata.js'
import { type Validation } from '../common/validation.js'
import { amountOf, checkResourceName, isComplete, isExtended } from './pod/container-resources.js'

export const resourceQuotaValidation: Validation = {
  create: quota => [...checkMeta(quota, { namespaced: true }), ...checkSpec(objectAt(quota, 'spec'))],
  update: (quota, old) => [
    ...checkMetaUpdate(quota, old),
    ...checkSpec(objectAt(quota, 'spec')),
    ...checkScopesKept(objectAt(quota, 'spec'), objectAt(old, 'spec')),
  ],
  status: (quota, old) => [
    ...checkMetaUpdate(quota, old),
    ...['hard', 'used'].flatMap(field => checkAmounts(mapAt(objectAt(quota, 'status'), field), `status.${field}`)),
  ],
}

const checkSpec = (spec: ValueObject): FieldError[] => [
  ...checkAmounts(mapAt(spec, 'hard'), 'spec.hard'),
  ...checkScopes(spec),
  ...checkScopeSelector(spec),
]

function checkScopesKept(spec: ValueObject, old: ValueObject): FieldError[] {
  const scopes = stringsAt(spec, 'scopes')
  const before = new Set(stringsAt(old, 'scopes'))
  const isSame = new Set(scopes).size === before.size && scopes.every(scope => before.has(scope))
  return isSame ? [] : [fieldInvalid('spec.scopes', [...scopes], 'field is immutable')]
}

// ---- amounts

const POD_COMPUTE = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory']

/** Things that are counted. */
const COUNTED: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
])

const QUOTA_RESOURCES: ReadonlySet<string> = new Set([
  ...POD_COMPUTE,
  ...COUNTED,
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
    errors.push(fieldInvalid(path, name, 'must be a standard resource for quota'))
  }
  const amount = amountOf(amounts, name)
  if (amount === undefined) return errors
  if (signOf(amount) < 0) errors.push(fieldInvalid(path, printQuantity(amount), 'must be greater than or equal to 0'))
  if ((COUNTED.has(name) || isExtended(name)) && !isComplete(amount)) {
    errors.push(fieldInvalid(path, printQuantity(amount), 'must be an integer'))
  }
  return errors
}

// ---- scopes

const PODS = new Set(['pods'])
const PODS_AND_COMPUTE = new Set(['pods', ...POD_COMPUTE])
const CLAIMS = new Set(['persistentvolumeclaims', 'requests.storage'])

/** What each scope can be asked of. */
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

/** The resources of a quota that a scope does not have. */
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
  const told = (why: string): FieldError => fieldInvalid('spec.scopes', [...scopes], why)
  const errors: FieldError[] = []
  for (const scope of scopes) {
    if (resourcesOf(scope) === undefined) errors.push(told('unsupported scope'))
    errors.push(...misplaced(spec, scope).map(() => told('unsupported scope applied to resource')))
  }
  for (let i = 0; i < conflictsIn(scopes); i++) errors.push(told('conflicting scopes'))
  return errors
}

/** Scopes that an object is in or is not. */
const PLAIN_SCOPES: ReadonlySet<string> = new Set([
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'CrossNamespacePodAffinity',
])

const MUST_EXIST =
  "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, " +
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
        ? [fieldInvalid(childPath(path, 'scopeName'), scope, 'unsupported scope')]
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
  Values: expression['values'] ?? null,
})

function checkOperator(expression: ValueObject, path: string): FieldError[] {
  const operator = stringAt(expression, 'operator')
  const values = stringsAt(expression, 'values')
  const valuesPath = childPath(path, 'values')
  const told = (why: string): FieldError => fieldInvalid(childPath(path, 'operator'), operator, why)
  const isPlain = PLAIN_SCOPES.has(stringAt(expression, 'scopeName'))
  const errors = isPlain && operator !== 'Exists' ? [told(MUST_EXIST)] : []
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
      return [...errors, told('not a valid selector operator')]
  }
}
