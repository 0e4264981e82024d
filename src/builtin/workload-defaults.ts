// What the kinds that keep pods running get where they say nothing.

import { ensureObject, has, objectAt, objectOrNone, objectsAt, setDefault, stringAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { defaultPodTemplate } from './pod-defaults.js'

/** The spec, with its template filled in. */
function specWithTemplate(object: ValueObject): ValueObject {
  const spec = ensureObject(object, 'spec')
  defaultPodTemplate(ensureObject(spec, 'template'))
  return spec
}

/** How pods are replaced: gradually, by the settings that are given for that, unless another way is asked for. */
function defaultRolling(spec: ValueObject, field: string, settings: ValueObject): void {
  const strategy = ensureObject(spec, field)
  setDefault(strategy, 'type', 'RollingUpdate')
  if (stringAt(strategy, 'type') !== 'RollingUpdate') return
  const rolling = ensureObject(strategy, 'rollingUpdate')
  for (const name of Object.keys(settings)) setDefault(rolling, name, settings[name]!, false)
}

/** A claim for a volume, by itself or as the template of one. */
export function defaultVolumeClaim(claim: ValueObject): void {
  setDefault(ensureObject(claim, 'status'), 'phase', 'Pending')
  setDefault(ensureObject(claim, 'spec'), 'volumeMode', 'Filesystem')
}

/** How often the pods of a job run, how many at once, and how often they may fail. */
function defaultRun(spec: ValueObject): void {
  if (!has(spec, 'parallelism') && !has(spec, 'completions')) spec['completions'] = 1
  setDefault(spec, 'parallelism', 1, false)
  setDefault(spec, 'backoffLimit', has(spec, 'backoffLimitPerIndex') ? 2 ** 31 - 1 : 6, false)
}

const templateLabels = (spec: ValueObject): ValueObject =>
  objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels')

/** What has no labels is labelled as its pods are. */
export function labelByTemplate(object: ValueObject): void {
  const labels = templateLabels(objectAt(object, 'spec'))
  const meta = ensureObject(object, 'metadata')
  if (Object.keys(labels).length > 0 && isEmpty(meta, 'labels')) meta['labels'] = { ...labels }
}

const isEmpty = (object: ValueObject, field: string): boolean => Object.keys(objectAt(object, field)).length === 0

export const WORKLOAD_DEFAULTS: Readonly<Record<string, (object: ValueObject) => void>> = {
  'apps/v1 Deployment': deployment => {
    const spec = specWithTemplate(deployment)
    setDefault(spec, 'replicas', 1, false)
    defaultRolling(spec, 'strategy', { maxUnavailable: '25%', maxSurge: '25%' })
    setDefault(spec, 'revisionHistoryLimit', 10, false)
    setDefault(spec, 'progressDeadlineSeconds', 600, false)
  },
  'apps/v1 ReplicaSet': set => setDefault(specWithTemplate(set), 'replicas', 1, false),
  'apps/v1 DaemonSet': set => {
    const spec = specWithTemplate(set)
    defaultRolling(spec, 'updateStrategy', { maxUnavailable: 1, maxSurge: 0 })
    setDefault(spec, 'revisionHistoryLimit', 10, false)
  },
  'apps/v1 StatefulSet': set => {
    const spec = specWithTemplate(set)
    setDefault(spec, 'replicas', 1, false)
    setDefault(spec, 'podManagementPolicy', 'OrderedReady')
    defaultRolling(spec, 'updateStrategy', { partition: 0 })
    setDefault(spec, 'revisionHistoryLimit', 10, false)
    const retention = ensureObject(spec, 'persistentVolumeClaimRetentionPolicy')
    setDefault(retention, 'whenDeleted', 'Retain')
    setDefault(retention, 'whenScaled', 'Retain')
    for (const claim of objectsAt(spec, 'volumeClaimTemplates')) {
      claim['kind'] = 'PersistentVolumeClaim'
      claim['apiVersion'] = 'v1'
      defaultVolumeClaim(claim)
    }
  },
  'batch/v1 Job': job => {
    const spec = specWithTemplate(job)
    defaultRun(spec)
    setDefault(spec, 'completionMode', 'NonIndexed')
    setDefault(spec, 'suspend', false, false)
    setDefault(spec, 'manualSelector', false, false)
    const policy = objectOrNone(spec, 'podFailurePolicy')
    setDefault(spec, 'podReplacementPolicy', policy === undefined ? 'TerminatingOrFailed' : 'Failed')
    labelByTemplate(job)
  },
  'batch/v1 CronJob': job => {
    const spec = ensureObject(job, 'spec')
    setDefault(spec, 'concurrencyPolicy', 'Allow')
    setDefault(spec, 'suspend', false, false)
    setDefault(spec, 'successfulJobsHistoryLimit', 3, false)
    setDefault(spec, 'failedJobsHistoryLimit', 1, false)
    const template = ensureObject(ensureObject(ensureObject(spec, 'jobTemplate'), 'spec'), 'template')
    defaultPodTemplate(template)
  },
  'v1 ReplicationController': controller => {
    const spec = ensureObject(controller, 'spec')
    const template = objectOrNone(spec, 'template')
    if (template !== undefined) defaultPodTemplate(template)
    if (!has(spec, 'replicas')) spec['replicas'] = 1
    const labels = templateLabels(spec)
    if (Object.keys(labels).length > 0 && isEmpty(spec, 'selector')) spec['selector'] = { ...labels }
    labelByTemplate(controller)
  },
}
