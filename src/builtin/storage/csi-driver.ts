// CSIDriver: what a driver needs from Kubernetes.
import {
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldInvalid,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import {
  ensureObject,
  has,
  numberOrNone,
  objectAt,
  objectsAt,
  setDefault,
  stringAt,
  stringsAt,
} from '../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import { defineKind, type Warnings } from '../common/define-kind.js'
import { checkImmutable, checkOneOf } from '../common/field-checks.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, field, immutable, type Rule } from '../common/rules.js'
import { countSpecChanges, inTurn, keepGeneration, same } from '../common/strategies.js'
import { ageOf, NONE, nameOf, type TableRow } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { UNSET } from '../core/volume-cells.js'

// ---- defaults and strategy

const FALSE_BY_DEFAULT = ['podInfoOnMount', 'storageCapacity', 'requiresRepublish', 'seLinuxMount']

function defaults(driver: ValueObject): void {
  const spec = ensureObject(driver, 'spec')
  setDefault(spec, 'attachRequired', true, false)
  setDefault(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType', false)
  for (const name of FALSE_BY_DEFAULT) setDefault(spec, name, false, false)
  if (stringsAt(spec, 'volumeLifecycleModes').length === 0) spec['volumeLifecycleModes'] = ['Persistent']
}

// ---- validation

const LIFECYCLE_MODES = ['Persistent', 'Ephemeral']
const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType']
const LEAST_PERIOD = 10
const LEAST_EXPIRATION = 600

const isSet = (name: string, path = name): Rule =>
  check((spec, at) => (has(spec, name) ? [] : [fieldRequired(childPath(at, path))]))

/** One token for each audience. The expiration of a repeated one is not checked. */
const tokenRequests: Rule = check((spec, path) => {
  const audiences = new Set<string>()
  const at = childPath(path, 'tokenRequests')
  return objectsAt(spec, 'tokenRequests').flatMap((request, i) => {
    const audience = stringAt(request, 'audience')
    if (audiences.has(audience)) return [fieldDuplicate(`${at}[${i}].audience`, audience)]
    audiences.add(audience)
    return checkExpiration(numberOrNone(request, 'expirationSeconds'), `${at}[${i}].expirationSeconds`)
  })
})

function checkExpiration(seconds: number | undefined, path: string): FieldError[] {
  if (seconds === undefined) return []
  if (seconds < LEAST_EXPIRATION) {
    return [fieldInvalid(path, seconds, 'may not specify a duration less than 10 minutes')]
  }
  return seconds > 2 ** 32 ? [fieldInvalid(path, seconds, 'may not specify a duration larger than 2^32 seconds')] : []
}

const updatePeriod = check((spec, path) => {
  const name = 'nodeAllocatableUpdatePeriodSeconds'
  const period = numberOrNone(spec, name)
  if (period === undefined || period >= LEAST_PERIOD) return []
  return [fieldInvalid(childPath(path, name), period, `must be greater than or equal to ${LEAST_PERIOD} seconds`)]
})

const tokensInSecrets = check((spec, path) => {
  const name = 'serviceAccountTokenInSecrets'
  if (!has(spec, name) || objectsAt(spec, 'tokenRequests').length > 0) return []
  const why = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'
  return [fieldInvalid(childPath(path, name), getOwn(spec, name), why)]
})

const specRules: readonly Rule[] = [
  // kube-apiserver writes this field so.
  isSet('attachRequired', 'attachedRequired'),
  isSet('podInfoOnMount'),
  isSet('storageCapacity'),
  check((spec, path) =>
    has(spec, 'fsGroupPolicy')
      ? checkOneOf(stringAt(spec, 'fsGroupPolicy'), FS_GROUP_POLICIES, childPath(path, 'fsGroupPolicy'))
      : [],
  ),
  tokenRequests,
  check((spec, path) =>
    stringsAt(spec, 'volumeLifecycleModes').flatMap(mode =>
      checkOneOf(mode, LIFECYCLE_MODES, childPath(path, 'volumeLifecycleModes')),
    ),
  ),
  isSet('seLinuxMount'),
  updatePeriod,
  tokensInSecrets,
]

const immutableFields: readonly Rule[] = [
  checkUpdate((spec, old, path) => checkImmutable(spec, old, 'attachRequired', childPath(path, 'attachedRequired'))),
  immutable('volumeLifecycleModes'),
]

// ---- warnings

const TOKENS_IN_ATTRIBUTES =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, ' +
  'set to true to prevent possible logging of tokens in volume attributes'

const warnings: Warnings = (driver, old) => {
  const spec = objectAt(driver, 'spec')
  if (objectsAt(spec, 'tokenRequests').length === 0 || has(spec, 'serviceAccountTokenInSecrets')) return []
  return old !== undefined && same(spec, objectAt(old, 'spec'), 'tokenRequests') ? [] : [TOKENS_IN_ATTRIBUTES]
}

// ---- Table

const row: TableRow = (driver, now) => {
  const spec = objectAt(driver, 'spec')
  const audiences = objectsAt(spec, 'tokenRequests').map(request => stringAt(request, 'audience'))
  return [
    nameOf(driver),
    spec['attachRequired'] !== false,
    spec['podInfoOnMount'] === true,
    spec['storageCapacity'] === true,
    has(spec, 'tokenRequests') ? audiences.join(',') : UNSET,
    spec['requiresRepublish'] === true,
    stringsAt(spec, 'volumeLifecycleModes').join(',') || NONE,
    ageOf(driver, now),
  ]
}

export const csiDriver = defineKind('storage.k8s.io/v1', 'CSIDriver', {
  defaults,
  strategy: {
    prepareForUpdate: inTurn(keepGeneration, countSpecChanges),
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
  },
  validation: validationRules({
    create: [metadata({ namespaced: false }), field('spec', specRules)],
    update: [metadataUpdate, field('spec', [...specRules, ...immutableFields])],
  }),
  warnings,
  table: row,
})
