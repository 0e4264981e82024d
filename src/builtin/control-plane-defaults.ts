// What the kinds that tell the server itself what to do get where they say nothing.

import { ensureObject, objectAt, objectOrNone, objectsAt, setDefault } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'

/** Objects of any labels, in any namespace, in whatever version they come. */
function defaultMatching(matching: ValueObject): void {
  setDefault(matching, 'matchPolicy', 'Equivalent', false)
  ensureObject(matching, 'namespaceSelector')
  ensureObject(matching, 'objectSelector')
  for (const rules of ['rules', 'resourceRules', 'excludeResourceRules']) {
    for (const rule of objectsAt(matching, rules)) setDefault(rule, 'scope', '*', false)
  }
}

const defaultPort = (service: ValueObject | undefined): void => {
  if (service !== undefined) setDefault(service, 'port', 443, false)
}

const defaultWebhooks = (configuration: ValueObject): void => {
  for (const webhook of objectsAt(configuration, 'webhooks')) {
    defaultMatching(webhook)
    setDefault(webhook, 'failurePolicy', 'Fail', false)
    setDefault(webhook, 'timeoutSeconds', 10, false)
    defaultPort(objectOrNone(objectAt(webhook, 'clientConfig'), 'service'))
  }
}

function defaultPolicy(policy: ValueObject): void {
  const spec = ensureObject(policy, 'spec')
  setDefault(spec, 'failurePolicy', 'Fail', false)
  const constraints = objectOrNone(spec, 'matchConstraints')
  if (constraints !== undefined) defaultMatching(constraints)
}

function defaultBinding(binding: ValueObject): void {
  const resources = objectOrNone(objectAt(binding, 'spec'), 'matchResources')
  if (resources !== undefined) defaultMatching(resources)
}

const ADMISSION = 'admissionregistration.k8s.io/v1'
const FLOW_CONTROL = 'flowcontrol.apiserver.k8s.io/v1'

export const CONTROL_PLANE_DEFAULTS: Readonly<Record<string, (object: ValueObject) => void>> = {
  [`${ADMISSION} ValidatingWebhookConfiguration`]: defaultWebhooks,
  [`${ADMISSION} MutatingWebhookConfiguration`]: configuration => {
    defaultWebhooks(configuration)
    for (const webhook of objectsAt(configuration, 'webhooks'))
      setDefault(webhook, 'reinvocationPolicy', 'Never', false)
  },
  [`${ADMISSION} ValidatingAdmissionPolicy`]: defaultPolicy,
  [`${ADMISSION} MutatingAdmissionPolicy`]: defaultPolicy,
  [`${ADMISSION} ValidatingAdmissionPolicyBinding`]: defaultBinding,
  [`${ADMISSION} MutatingAdmissionPolicyBinding`]: defaultBinding,
  'apiregistration.k8s.io/v1 APIService': service => defaultPort(objectOrNone(objectAt(service, 'spec'), 'service')),
  [`${FLOW_CONTROL} FlowSchema`]: schema => setDefault(ensureObject(schema, 'spec'), 'matchingPrecedence', 1000),
  [`${FLOW_CONTROL} PriorityLevelConfiguration`]: level => {
    const spec = ensureObject(level, 'spec')
    const [exempt, limited] = [objectOrNone(spec, 'exempt'), objectOrNone(spec, 'limited')]
    if (exempt !== undefined) setDefault(exempt, 'nominalConcurrencyShares', 0, false)
    if (limited !== undefined) setDefault(limited, 'nominalConcurrencyShares', 30, false)
    for (const room of [exempt, limited]) if (room !== undefined) setDefault(room, 'lendablePercent', 0, false)
    const queuing = objectOrNone(objectAt(limited ?? {}, 'limitResponse'), 'queuing')
    if (queuing === undefined) return
    setDefault(queuing, 'queues', 64)
    setDefault(queuing, 'handSize', 8)
    setDefault(queuing, 'queueLengthLimit', 50)
  },
}
