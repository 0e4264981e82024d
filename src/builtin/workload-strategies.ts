// Strategies of jobs and cron jobs.
import type { TypeTable } from '../types/type-table.js'
import { type BuiltinStrategy, counted } from './common/strategies.js'
import { labelJob } from './job-labels.js'

const PODS_STAY =
  'child pods are preserved by default when jobs are deleted; ' +
  'set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning'

export const WORKLOAD_STRATEGIES: Readonly<Record<string, (table: TypeTable) => BuiltinStrategy>> = {
  'batch/v1 Job': counted('batch/v1.JobStatus', {
    prepareForCreate: labelJob,
    defaultPropagation: { warning: PODS_STAY },
  }),
  'batch/v1 CronJob': counted('batch/v1.CronJobStatus'),
}
