// Stateful sets: pods with names and volumes of their own.
import {
  asStruct,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import { checkDnsLabel } from '../../meta/object/names.js'
import { numberAt, objectAt, objectOrNone, objectsAt, stringAt } from '../../meta/values/access.js'
import { getOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { checkNotNegative, checkOneOf, checkText, sameValue, type Validation } from './common-rules.js'
import {
  checkAtMaxAll,
  checkCount,
  checkCounts,
  checkSelectorAndTemplate,
  checkStatusCounts,
  countOrPercent,
  podOwnerValidation,
} from './pod-owners.js'

const asPodOwner = podOwnerValidation(
  spec => [
    ...checkPodManagement(stringAt(spec, 'podManagementPolicy')),
    ...checkStrategy(objectAt(spec, 'updateStrategy')),
    ...checkRetention(objectAt(spec, 'persistentVolumeClaimRetentionPolicy')),
    ...checkCounts(spec, ['replicas', 'minReadySeconds'], 'spec'),
    ...checkCounts(objectAt(spec, 'ordinals'), ['start'], 'spec.ordinals'),
    ...checkServiceName(stringAt(spec, 'serviceName')),
    ...checkSelectorAndTemplate(withClaimedVolumes(spec), { owner: 'statefulset', podOwner: 'StatefulSet' }),
  ],
  status =>
    checkStatusCounts(
      status,
      ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
      ['observedGeneration', 'collisionCount'],
    ),
  { selectorStays: false },
)

export const statefulSetValidation: Validation = {
  ...asPodOwner,
  update: (set, old) => [...asPodOwner.update(set, old), ...checkRestKept(set, old)],
}

function checkPodManagement(policy: string): FieldError[] {
  const path = 'spec.podManagementPolicy'
  if (policy === '') return [fieldRequired(path)]
  if (policy === 'OrderedReady' || policy === 'Parallel') return []
  return [fieldInvalid(path, policy, "must be 'OrderedReady' or 'Parallel'")]
}

function checkStrategy(strategy: ValueObject): FieldError[] {
  const path = 'spec.updateStrategy'
  const at = childPath(path, 'rollingUpdate')
  const rolling = objectOrNone(strategy, 'rollingUpdate')
  const shown: Value =
    rolling === undefined
      ? null
      : { Partition: numberAt(rolling, 'partition'), MaxUnavailable: getOwn(rolling, 'maxUnavailable') ?? null }
  switch (stringAt(strategy, 'type')) {
    case '':
      return [fieldRequired(path)]
    case 'OnDelete':
      return rolling === undefined
        ? []
        : [fieldInvalid(at, asStruct(shown), "only allowed for updateStrategy 'RollingUpdate'")]
    case 'RollingUpdate':
      return rolling === undefined ? [] : checkRolling(rolling, at)
    default: {
      const whole = asStruct({ Type: stringAt(strategy, 'type'), RollingUpdate: shown })
      return [fieldInvalid(path, whole, "must be 'RollingUpdate' or 'OnDelete'")]
    }
  }
}

function checkRolling(rolling: ValueObject, path: string): FieldError[] {
  const errors = checkNotNegative(numberAt(rolling, 'partition'), childPath(path, 'partition'))
  const unavailable = getOwn(rolling, 'maxUnavailable')
  if (unavailable === undefined || unavailable === null) return errors
  const at = childPath(path, 'maxUnavailable')
  errors.push(...checkCount(unavailable, at))
  if (countOrPercent(unavailable) === 0) errors.push(fieldInvalid(at, unavailable, 'cannot be 0'))
  return [...errors, ...checkAtMaxAll(unavailable, at)]
}

const checkRetention = (policy: ValueObject): FieldError[] =>
  ['whenDeleted', 'whenScaled'].flatMap(when =>
    checkOneOf(stringAt(policy, when), ['Retain', 'Delete'], `spec.persistentVolumeClaimRetentionPolicy.${when}`),
  )

const checkServiceName = (name: string): FieldError[] =>
  name === '' ? [] : checkText(name, checkDnsLabel, 'spec.serviceName')

/** A claim gives its pod a volume of its name, in place of one that the template has. */
function withClaimedVolumes(spec: ValueObject): ValueObject {
  const claims = objectsAt(spec, 'volumeClaimTemplates').map(claim => stringAt(objectAt(claim, 'metadata'), 'name'))
  if (claims.length === 0) return spec
  const template = objectAt(spec, 'template')
  const podSpec = objectAt(template, 'spec')
  const volumes = [
    ...objectsAt(podSpec, 'volumes').filter(volume => !claims.includes(stringAt(volume, 'name'))),
    ...claims.map(name => ({ name, persistentVolumeClaim: { claimName: name } })),
  ]
  return { ...spec, template: { ...template, spec: { ...podSpec, volumes } } }
}

const MAY_CHANGE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

function checkRestKept(set: ValueObject, old: ValueObject): FieldError[] {
  const spec = objectAt(set, 'spec')
  const oldSpec = objectAt(old, 'spec')
  const fields = new Set([...Object.keys(spec), ...Object.keys(oldSpec)])
  const changed = [...fields].some(
    field => !MAY_CHANGE.includes(field) && !sameValue(getOwn(spec, field), getOwn(oldSpec, field)),
  )
  if (!changed) return []
  const names = MAY_CHANGE.map(field => `'${field}'`)
  const told = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  return [fieldForbidden('spec', `updates to statefulset spec for fields other than ${told} are forbidden`)]
}
