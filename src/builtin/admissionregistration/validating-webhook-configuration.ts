// ValidatingWebhookConfiguration.
import { defineKind } from '../common/define-kind.js'
import { webhookConfiguration } from './webhook-configuration.js'

export const validatingWebhookConfiguration = defineKind(
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration',
  webhookConfiguration({ isMutating: false }),
)
