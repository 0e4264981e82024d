// What a write does to the kinds that keep pods running: the status is theirs, and their generation counts what is asked
// of them.

import { ensureObject, keepFrom, mapAt, objectAt } from '../meta/values/access.js'
import { equalValues, getOwn, type ValueObject } from '../meta/values/value.js'
import type { TypeTable } from '../types/type-table.js'
import { labelJob } from './job-labels.js'
import {
  type BuiltinStrategy,
  counted,
  countGeneration,
  countSpecChanges,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  type PrepareForUpdate,
  same,
} from './strategy-parts.js'

/** Annotations are asked of a deployment as its spec is. */
const countDeploymentChanges: PrepareForUpdate = (deployment, old) => {
  const meta = objectAt(deployment, 'metadata')
  const unchanged = same(deployment, old, 'spec') && same(meta, objectAt(old, 'metadata'), 'annotations')
  if (!unchanged) countGeneration(deployment, old)
}

// ---- daemon sets: how often their template changed is kept in an annotation

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'

const templateGenerationOf = (set: ValueObject): number =>
  Number(mapAt(objectAt(set, 'metadata'), 'annotations')[TEMPLATE_GENERATION] ?? 0)

function setTemplateGeneration(set: ValueObject, generation: number): void {
  ensureObject(ensureObject(set, 'metadata'), 'annotations')[TEMPLATE_GENERATION] = String(generation)
}

const countTemplateChanges: PrepareForUpdate = (set, old) => {
  const before = templateGenerationOf(old)
  const isSame = equalValues(templateOf(set), templateOf(old))
  setTemplateGeneration(set, isSame ? before : before + 1)
}

const templateOf = (set: ValueObject): ValueObject | null =>
  (getOwn(objectAt(set, 'spec'), 'template') as ValueObject | undefined) ?? null

const PODS_STAY =
  'child pods are preserved by default when jobs are deleted; ' +
  'set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning'

export const WORKLOAD_STRATEGIES: Readonly<Record<string, (table: TypeTable) => BuiltinStrategy>> = {
  'apps/v1 Deployment': counted('apps/v1.DeploymentStatus', {
    prepareForUpdate: inTurn(keepGeneration, keepStatus, countDeploymentChanges),
    prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, (deployment, old) =>
      keepFrom(ensureObject(deployment, 'metadata'), objectAt(old, 'metadata'), 'labels'),
    ),
  }),
  'apps/v1 ReplicaSet': counted('apps/v1.ReplicaSetStatus'),
  'apps/v1 StatefulSet': counted('apps/v1.StatefulSetStatus'),
  'apps/v1 DaemonSet': counted('apps/v1.DaemonSetStatus', {
    prepareForCreate: set => {
      const requested = templateGenerationOf(set)
      setTemplateGeneration(set, requested >= 1 ? requested : 1)
    },
    prepareForUpdate: inTurn(keepGeneration, keepStatus, countTemplateChanges, countSpecChanges),
  }),
  'batch/v1 Job': counted('batch/v1.JobStatus', {
    prepareForCreate: labelJob,
    defaultPropagation: { warning: PODS_STAY },
  }),
  'batch/v1 CronJob': counted('batch/v1.CronJobStatus'),
  'v1 ReplicationController': counted('core/v1.ReplicationControllerStatus', { defaultPropagation: {} }),
}
