// MutatingWebhookConfiguration.
import { defineKind } from '../common/define-kind.js'
import { webhookConfiguration } from './webhook-configuration.js'

export const mutatingWebhookConfiguration = defineKind(
  'admissionregistration.k8s.io/v1',
  'MutatingWebhookConfiguration',
  webhookConfiguration({ isMutating: true }),
)
