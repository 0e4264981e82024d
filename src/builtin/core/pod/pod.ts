// Pod.
import { fieldForbidden } from '../../../meta/errors/field-errors.js'
import { ensureObject, has, keepFrom, objectAt, objectsAt, stringAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { defineKind } from '../../common/define-kind.js'
import { metadata, metadataUpdate } from '../../common/metadata.js'
import { check, checkUpdate, type Rule } from '../../common/rules.js'
import { booleanField, selectableFields, stringField } from '../../common/selectable-fields.js'
import {
  type BuiltinStrategy,
  countSpecChanges,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  startGeneration,
} from '../../common/strategies.js'
import { type Validation, validationRules } from '../../common/validation.js'
import { checkOnlyAdded } from './containers/ephemeral-containers.js'
import { defaultPod } from './defaults.js'
import {
  checkAnnotatedFields,
  checkFixedAnnotations,
  checkPodAnnotations,
  setAppArmorFields,
} from './spec/pod-annotations.js'
import { checkPodSpec } from './spec/pod-spec.js'
import { mergeLabelKeys, SELECTOR_MERGE } from './spec/scheduling.js'
import { checkSpecChange } from './spec/spec-change.js'
import { checkResize, checkResizeWithoutInit } from './subresources/resize.js'
import { keepObserved, newPodStatus, podGrace, syncPodIps } from './subresources/status.js'
import { checkPodStatus, podStatusWarnings } from './subresources/status-rules.js'
import { forEphemeralContainers, forResize } from './subresources/subresources.js'
import { podRow, podRowConditions } from './table.js'
import { podWarnings } from './warnings.js'

const prepareForCreate =
  (isSpreadMerged: boolean): NonNullable<BuiltinStrategy['prepareForCreate']> =>
  (pod, { now, warn }) => {
    startGeneration(pod)
    mergeLabelKeys(pod, isSpreadMerged)
    setAppArmorFields(pod, warn ?? (() => {}))
    pod['status'] = newPodStatus(pod, now)
  }

const strategy: BuiltinStrategy = {
  pagedByField: 'spec.nodeName',
  subresourcesWithoutTable: ['ephemeralcontainers', 'resize'],
  prepareForCreate: prepareForCreate(true),
  prepareForUpdate: inTurn(keepGeneration, keepStatus, countSpecChanges),
  prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, (pod, old) => {
    for (const name of ['deletionTimestamp', 'ownerReferences']) {
      keepFrom(ensureObject(pod, 'metadata'), objectAt(old, 'metadata'), name)
    }
    keepObserved(ensureObject(pod, 'status'), objectAt(old, 'status'))
  }),
  prepareForSubresourceUpdate: { ephemeralcontainers: forEphemeralContainers, resize: forResize },
  returnsDeletedObject: true,
  gracePeriod: podGrace,
  rowConditions: podRowConditions,
}

// ---- validation

/** A token is requested for a service account. */
const tokensHaveAccount = check(pod => {
  const spec = objectAt(pod, 'spec')
  if (stringAt(spec, 'serviceAccountName') !== '') return []
  return objectsAt(spec, 'volumes').flatMap((volume, i) =>
    objectsAt(objectAt(volume, 'projected'), 'sources').flatMap((source, j) => {
      if (!has(source, 'serviceAccountToken')) return []
      const path = `spec.volumes[${i}].projected.sources[${j}].serviceAccountToken`
      return [fieldForbidden(path, 'must not be specified when serviceAccountName is not set')]
    }),
  )
})

const noEphemeralContainers = check(pod =>
  objectsAt(objectAt(pod, 'spec'), 'ephemeralContainers').length > 0
    ? [fieldForbidden('spec.ephemeralContainers', 'cannot be set on create')]
    : [],
)

const noNodeWhileGated = check(pod => {
  const spec = objectAt(pod, 'spec')
  if (stringAt(spec, 'nodeName') === '' || objectsAt(spec, 'schedulingGates').length === 0) return []
  return [fieldForbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
})

const rules: readonly Rule[] = [
  metadata({ namespaced: true }),
  check((pod, _, old) => checkPodAnnotations(pod, old, 'metadata.annotations')),
  check((pod, _, old) =>
    checkPodSpec(objectAt(pod, 'spec'), 'spec', {
      ofPod: true,
      podName: stringAt(objectAt(pod, 'metadata'), 'name'),
      oldSpec: old && objectAt(old, 'spec'),
    }),
  ),
  tokensHaveAccount,
]

const fixedAnnotations = checkUpdate(checkFixedAnnotations)

const updateRules = (checkChange: (pod: ValueObject, old: ValueObject) => ReturnType<typeof checkResize>): Rule[] => [
  metadataUpdate,
  ...rules,
  fixedAnnotations,
  checkUpdate(checkChange),
]

const validationWith = (resize: typeof checkResize): Validation =>
  validationRules({
    create: [...rules, noEphemeralContainers, noNodeWhileGated, check(pod => checkAnnotatedFields(pod, 'spec'))],
    update: updateRules(checkSpecChange),
    status: [metadataUpdate, fixedAnnotations, checkUpdate(checkPodStatus)],
    parts: { ephemeralcontainers: updateRules(checkOnlyAdded), resize: updateRules(resize) },
  })

// ---- fields

const firstPodIp = (pod: ValueObject): string => {
  const [first] = objectsAt(objectAt(pod, 'status'), 'podIPs')
  return first === undefined ? stringAt(objectAt(pod, 'status'), 'podIP') : stringAt(first, 'ip')
}

const podIps = (pod: ValueObject): string =>
  objectsAt(objectAt(pod, 'status'), 'podIPs')
    .map(address => stringAt(address, 'ip'))
    .join(',')

export const pod = defineKind('v1', 'Pod', {
  defaults: object => {
    defaultPod(object)
    syncPodIps(objectAt(object, 'status'))
  },
  strategy,
  statusReset: ['metadata.deletionTimestamp', 'metadata.ownerReferences'],
  validation: validationWith(checkResize),
  changedBy: {
    InPlacePodVerticalScalingInitContainers: { validation: validationWith(checkResizeWithoutInit) },
    [SELECTOR_MERGE]: { strategy: { ...strategy, prepareForCreate: prepareForCreate(false) } },
  },
  warnings: podWarnings,
  statusWarnings: podStatusWarnings,
  table: podRow,
  selectableFields: selectableFields(
    {
      'spec.nodeName': stringField('spec', 'nodeName'),
      'spec.restartPolicy': stringField('spec', 'restartPolicy'),
      'spec.schedulerName': stringField('spec', 'schedulerName'),
      'spec.serviceAccountName': stringField('spec', 'serviceAccountName'),
      'spec.hostNetwork': booleanField('spec', 'hostNetwork'),
      'status.phase': stringField('status', 'phase'),
      'status.podIP': firstPodIp,
      'status.podIPs': podIps,
      'status.nominatedNodeName': stringField('status', 'nominatedNodeName'),
    },
    { aliases: { 'spec.host': 'spec.nodeName' } },
  ),
})
