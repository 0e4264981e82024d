// Defaults of jobs and cron jobs.

import { ensureObject, has, objectOrNone, setDefault } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { labelByTemplate, specWithTemplate } from './apps/pod-owner.js'
import { defaultPodTemplate } from './core/pod/defaults.js'

/** How often the pods of a job run, how many at once, and how often they may fail. */
function defaultRun(spec: ValueObject): void {
  if (!has(spec, 'parallelism') && !has(spec, 'completions')) spec['completions'] = 1
  setDefault(spec, 'parallelism', 1, false)
  setDefault(spec, 'backoffLimit', has(spec, 'backoffLimitPerIndex') ? 2 ** 31 - 1 : 6, false)
}

export const WORKLOAD_DEFAULTS: Readonly<Record<string, (object: ValueObject) => void>> = {
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
}
