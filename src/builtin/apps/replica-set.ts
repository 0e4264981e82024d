// ReplicaSet: a number of pods of one template.
import { setDefault } from '../../meta/values/access.js'
import { defineKind } from '../common/define-kind.js'
import { notNegative } from '../common/rules.js'
import { counted } from '../common/strategies.js'
import { templateWarnings } from '../core/pod/warnings.js'
import { podOwner, replicaRow, selectorAndTemplate, selectorCell, specWithTemplate, statusCounts } from './pod-owner.js'

/** The counts in the status of a replica set, and of a replication controller. */
export const replicaStatusCounts = statusCounts(
  ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  ['observedGeneration', 'terminatingReplicas'],
)

export const replicaSet = defineKind('apps/v1', 'ReplicaSet', {
  defaults: set => setDefault(specWithTemplate(set), 'replicas', 1, false),
  strategy: counted('apps/v1.ReplicaSetStatus'),
  validation: podOwner({
    spec: [
      notNegative('replicas', 'minReadySeconds'),
      // kube-apiserver's message names a deployment here too.
      selectorAndTemplate({ owner: 'deployment', podOwner: 'ReplicaSet' }),
    ],
    status: [replicaStatusCounts],
  }),
  warnings: templateWarnings('spec.template', { isNamed: true }),
  table: replicaRow(spec => selectorCell(spec)),
})
