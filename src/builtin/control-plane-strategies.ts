// What a write does to the kinds that tell the server itself what to do.

import { has, objectAt } from '../meta/values/access.js'
import type { TypeTable } from '../types/type-table.js'
import {
  type BuiltinStrategy,
  clearStatus,
  counted,
  countGeneration,
  inTurn,
  keepGeneration,
  keepSpec,
  keepStatus,
  type PrepareForUpdate,
  same,
  specOnly,
  startGeneration,
} from './common/strategies.js'

const countWebhookChanges: PrepareForUpdate = (configuration, old) => {
  if (!same(configuration, old, 'webhooks')) countGeneration(configuration, old)
}

const webhooks: BuiltinStrategy = {
  prepareForCreate: startGeneration,
  prepareForUpdate: inTurn(keepGeneration, countWebhookChanges),
  allowUnconditionalUpdate: false,
}

const conditional = { allowUnconditionalUpdate: false }

/** What the server answers itself needs no one to look whether it is there. */
const apiServices = (table: TypeTable): BuiltinStrategy => {
  const clear = clearStatus(table, 'apiregistration/v1.APIServiceStatus')
  return {
    prepareForCreate: (service, context) => {
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
    prepareForUpdate: inTurn(keepGeneration, keepStatus),
    prepareForStatusUpdate: inTurn(keepGeneration, keepSpec),
    ...conditional,
  }
}

const ADMISSION = 'admissionregistration.k8s.io/v1'
const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1'

export const CONTROL_PLANE_STRATEGIES: Readonly<Record<string, (table: TypeTable) => BuiltinStrategy>> = {
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
