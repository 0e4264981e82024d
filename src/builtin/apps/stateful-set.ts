// StatefulSet: pods with stable names and with volumes of their own.
import {
  asStruct,
  asTypedText,
  childPath,
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
} from '../../meta/errors/field-errors.js'
import { checkDnsLabel } from '../../meta/object/names.js'
import { selectorOf } from '../../meta/selectors/label-selectors.js'
import {
  ensureObject,
  numberAt,
  objectAt,
  objectOrNone,
  objectsAt,
  setDefault,
  stringAt,
} from '../../meta/values/access.js'
import { getOwn, type Value, type ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { checkNotNegative, sameValue } from '../common/field-checks.js'
import {
  check,
  checkUpdate,
  each,
  field,
  format,
  notNegative,
  onCreate,
  oneOf,
  optional,
  type Rule,
  required,
  union,
} from '../common/rules.js'
import { counted } from '../common/strategies.js'
import { ageOf, nameOf, type TableRow } from '../common/table-cells.js'
import { checkClaimSpec, claimSpecWarnings, defaultVolumeClaim } from '../core/persistent-volume-claim.js'
import { checkTemplateMetadata } from '../core/pod/spec/pod-spec.js'
import { templateWarnings } from '../core/pod/warnings.js'
import {
  checkAtMaxAll,
  checkCount,
  containerCells,
  countOrPercent,
  growingCollisionCount,
  podOwner,
  readyCell,
  selectorAndTemplate,
  specWithTemplate,
  statusCounts,
} from './pod-owner.js'

// ---- defaults

function defaults(set: ValueObject): void {
  const spec = specWithTemplate(set)
  setDefault(spec, 'replicas', 1, false)
  setDefault(spec, 'podManagementPolicy', 'OrderedReady')
  defaultUpdateStrategy(ensureObject(spec, 'updateStrategy'))
  setDefault(spec, 'revisionHistoryLimit', 10, false)
  const retention = ensureObject(spec, 'persistentVolumeClaimRetentionPolicy')
  setDefault(retention, 'whenDeleted', 'Retain')
  setDefault(retention, 'whenScaled', 'Retain')
  for (const claim of objectsAt(spec, 'volumeClaimTemplates')) {
    claim['kind'] = 'PersistentVolumeClaim'
    claim['apiVersion'] = 'v1'
    defaultVolumeClaim(claim)
  }
}

/** A strategy that names its type but has no `rollingUpdate` gets none. */
function defaultUpdateStrategy(strategy: ValueObject): void {
  if (stringAt(strategy, 'type') === '') {
    strategy['type'] = 'RollingUpdate'
    ensureObject(strategy, 'rollingUpdate')
  }
  const rolling = objectOrNone(strategy, 'rollingUpdate')
  if (rolling === undefined) return
  if (stringAt(strategy, 'type') === 'RollingUpdate') setDefault(rolling, 'partition', 0, false)
}

// ---- validation

function checkPodManagement(spec: ValueObject, path: string): FieldError[] {
  const policy = stringAt(spec, 'podManagementPolicy')
  if (policy === '' || policy === 'OrderedReady' || policy === 'Parallel') return []
  const why = "must be 'OrderedReady' or 'Parallel'"
  return [fieldInvalid(childPath(path, 'podManagementPolicy'), asTypedText(policy), why)]
}

/** The rolling update as Go prints the struct. */
const printedRollingUpdate = (strategy: ValueObject): Value => {
  const rolling = objectOrNone(strategy, 'rollingUpdate')
  if (rolling === undefined) return null
  return { Partition: numberAt(rolling, 'partition'), MaxUnavailable: getOwn(rolling, 'maxUnavailable') ?? null }
}

const updateStrategyRules: readonly Rule[] = [
  union(
    'type',
    {
      '': [check((_, path) => [fieldRequired(path)])],
      OnDelete: [
        check((strategy, path) => {
          const shown = printedRollingUpdate(strategy)
          if (shown === null) return []
          const why = "only allowed for updateStrategy 'RollingUpdate'"
          return [fieldInvalid(childPath(path, 'rollingUpdate'), asStruct(shown), why)]
        }),
      ],
      RollingUpdate: [optional('rollingUpdate', [check(checkRollingUpdate)])],
    },
    [
      check((strategy, path) => {
        const shown = { Type: stringAt(strategy, 'type'), RollingUpdate: printedRollingUpdate(strategy) }
        return [fieldInvalid(path, asStruct(shown), "must be 'RollingUpdate' or 'OnDelete'")]
      }),
    ],
  ),
]

function checkRollingUpdate(rolling: ValueObject, path: string): FieldError[] {
  const errors = checkNotNegative(numberAt(rolling, 'partition'), childPath(path, 'partition'))
  const unavailable = getOwn(rolling, 'maxUnavailable')
  if (unavailable === undefined || unavailable === null) return errors
  const at = childPath(path, 'maxUnavailable')
  errors.push(...checkCount(unavailable, at))
  if (countOrPercent(unavailable) === 0) errors.push(fieldInvalid(at, unavailable, 'cannot be 0'))
  return [...errors, ...checkAtMaxAll(unavailable, at)]
}

const RETENTION = ['Retain', 'Delete']

const claimTemplate = check((claim, path) => checkClaimSpec(objectAt(claim, 'spec'), childPath(path, 'spec')))

/**
 * The template as the pods will be. Each claim template adds a volume of its name, in place of one that the template
 * has; the controller sets hostname and subdomain.
 */
function withClaimedVolumes(given: ValueObject): ValueObject {
  const { hostname: _, subdomain: __, ...podSpecGiven } = objectAt(objectAt(given, 'template'), 'spec')
  const spec = { ...given, template: { ...objectAt(given, 'template'), spec: podSpecGiven } }
  const claimed = new Set(
    objectsAt(spec, 'volumeClaimTemplates').map(claim => stringAt(objectAt(claim, 'metadata'), 'name')),
  )
  if (claimed.size === 0) return spec
  const template = objectAt(spec, 'template')
  const podSpec = objectAt(template, 'spec')
  const volumes = [
    ...objectsAt(podSpec, 'volumes').filter(volume => !claimed.has(stringAt(volume, 'name'))),
    ...Array.from(claimed, claim => ({ name: claim, persistentVolumeClaim: { claimName: claim } })),
  ]
  return { ...spec, template: { ...template, spec: { ...podSpec, volumes } } }
}

/** kube-apiserver reports what is wrong with the metadata of a template twice, if the selector can be used. */
function checkTemplateMetadataAgain(spec: ValueObject, path: string, old: ValueObject | undefined): FieldError[] {
  if (!selectorOf(objectOrNone(spec, 'selector')).ok) return []
  return checkTemplateMetadata(
    objectAt(spec, 'template'),
    childPath(path, 'template'),
    old && objectAt(old, 'template'),
  )
}

/** The fields that may change, in the order in which the message lists them. */
const MUTABLE_FIELDS = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

const otherFieldsAreImmutable = checkUpdate((spec, old, path) => {
  const fields = new Set([...Object.keys(spec), ...Object.keys(old)])
  const changed = [...fields].some(name => !MUTABLE_FIELDS.includes(name) && !sameValue(spec[name], old[name]))
  if (!changed) return []
  const names = MUTABLE_FIELDS.map(name => `'${name}'`)
  const listed = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
  return [fieldForbidden(path, `updates to statefulset spec for fields other than ${listed} are forbidden`)]
})

// ---- warnings

const ofTemplate = templateWarnings('spec.template')

function warnings(set: ValueObject, old: ValueObject | undefined): string[] {
  const spec = objectAt(set, 'spec')
  // kube-apiserver's paths of the claims are these.
  const claimPath = (i: number): string => `spec.volumeClaimTemplates[${i}]${old === undefined ? '' : '.Spec'}`
  const negativeHistory =
    'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended'
  return [
    ...ofTemplate(set, old),
    ...objectsAt(spec, 'volumeClaimTemplates').flatMap((claim, i) =>
      claimSpecWarnings(objectAt(claim, 'spec'), claimPath(i)),
    ),
    ...(numberAt(spec, 'revisionHistoryLimit') < 0 ? [negativeHistory] : []),
  ]
}

// ---- Table

const row: TableRow = (set, now) => {
  const spec = objectAt(set, 'spec')
  return [nameOf(set), readyCell(spec, objectAt(set, 'status')), ageOf(set, now), ...containerCells(spec)]
}

export const statefulSet = defineKind('apps/v1', 'StatefulSet', {
  defaults,
  strategy: counted('apps/v1.StatefulSetStatus'),
  validation: podOwner({
    metadata: { name: checkDnsLabel },
    spec: [
      required('podManagementPolicy'),
      check(checkPodManagement),
      field('updateStrategy', updateStrategyRules),
      field('persistentVolumeClaimRetentionPolicy', [oneOf('whenDeleted', RETENTION), oneOf('whenScaled', RETENTION)]),
      // Claim templates and service name cannot change: those of stored sets stay as they are.
      onCreate([each('volumeClaimTemplates', [claimTemplate])]),
      notNegative('replicas', 'minReadySeconds'),
      field('ordinals', [notNegative('start')]),
      onCreate([format('serviceName', checkDnsLabel)]),
      selectorAndTemplate({
        owner: 'statefulset',
        podOwner: 'StatefulSet',
        unusable: '',
        withTemplate: withClaimedVolumes,
      }),
      check(checkTemplateMetadataAgain),
    ],
    specUpdate: [otherFieldsAreImmutable],
    status: [
      statusCounts(
        ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
        ['observedGeneration', 'collisionCount'],
        { ready: 'status.readyReplicas' },
      ),
      growingCollisionCount,
    ],
  }),
  warnings,
  table: row,
})
