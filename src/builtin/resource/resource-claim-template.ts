// ResourceClaimTemplate: the claims that are created for pods.
import { ensureObject, objectAt } from '../../meta/values/access.js'
import { defineKind } from '../common/define-kind.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { validationRules } from '../common/validation.js'
import { checkClaimSpec, defaultClaimSpec, immutableSpec } from './claim-spec.js'

export const resourceClaimTemplate = defineKind('resource.k8s.io/v1', 'ResourceClaimTemplate', {
  defaults: template => defaultClaimSpec(objectAt(ensureObject(template, 'spec'), 'spec')),
  strategy: { prepareForUpdate: keepGeneration, returnsDeletedObject: true },
  validation: validationRules({
    create: [
      metadata({ namespaced: true }),
      check(template => checkClaimSpec(objectAt(objectAt(template, 'spec'), 'spec'), 'spec.spec')),
    ],
    update: [metadataUpdate, immutableSpec('resource/v1.ResourceClaimTemplateSpec')],
  }),
})
