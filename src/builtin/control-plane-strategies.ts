// What a write does to the kinds that tell the server itself what to do.

import { has, objectAt } from '../meta/values/access.js'
import type { TypeTable } from '../types/type-table.js'
import {
  clearStatus,
  counted,
  countGeneration,
  type ForUpdate,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  type Strategy,
  same,
  specOnly,
  startGeneration,
} from './strategy-parts.js'

const countWebhookChanges: ForUpdate = (configuration, old) => {
  if (!same(configuration, old, 'webhooks')) countGeneration(configuration, old)
}

const webhooks: Strategy = {
  forCreate: startGeneration,
  forUpdate: inTurn(keepGeneration, countWebhookChanges),
  unconditionalUpdate: false,
}

const conditional = { unconditionalUpdate: false }

/** What the server answers itself needs no one to look whether it is there. */
const apiServices = (table: TypeTable): Strategy => {
  const clear = clearStatus(table, 'apiregistration/v1.APIServiceStatus')
  return {
    forCreate: (service, context) => {
      clear(service, context)
      if (has(objectAt(service, 'spec'), 'service')) return
      const condition = {
        type: 'Available',
        status: 'True',
        lastTransitionTime: context.now,
        reason: 'Local',
        message: 'Local APIServices are always available',
      }
      service['status'] = { conditions: [condition] }
    },
    forUpdate: inTurn(keepGeneration, keepStatus),
    forStatus: inTurn(keepGeneration, keepSpec),
    ...conditional,
  }
}

const ADMISSION = 'admissionregistration.k8s.io/v1'
const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1'

export const CONTROL_PLANE_STRATEGIES: Readonly<Record<string, (table: TypeTable) => Strategy>> = {
  [`${ADMISSION} ValidatingWebhookConfiguration`]: () => webhooks,
  [`${ADMISSION} MutatingWebhookConfiguration`]: () => webhooks,
  [`${ADMISSION} ValidatingAdmissionPolicy`]: counted(
    'admissionregistration/v1.ValidatingAdmissionPolicyStatus',
    conditional,
  ),
  [`${ADMISSION} MutatingAdmissionPolicy`]: () => ({ ...specOnly, ...conditional }),
  [`${ADMISSION} ValidatingAdmissionPolicyBinding`]: () => ({ ...specOnly, ...conditional }),
  [`${ADMISSION} MutatingAdmissionPolicyBinding`]: () => ({ ...specOnly, ...conditional }),
  'apiregistration.k8s.io/v1 APIService': apiServices,
  [`${FLOW_CONTROL} FlowSchema`]: counted('flowcontrol/v1.FlowSchemaStatus', conditional),
  [`${FLOW_CONTROL} PriorityLevelConfiguration`]: counted(
    'flowcontrol/v1.PriorityLevelConfigurationStatus',
    conditional,
  ),
  'resource.k8s.io/v1 DeviceClass': () => specOnly,
  'resource.k8s.io/v1 ResourceSlice': () => specOnly,
}
