// ResourceClaimTemplate: the claims that are created for pods.
import { ensureObject, objectAt } from '../../meta/values/access.js'
import { defineKind } from '../common/define-kind.js'
import { earlierVersion } from '../common/earlier-version.js'
import { asGoClaimTemplate } from '../common/go-struct.js'
import { metadata, metadataUpdate, templateMetadata } from '../common/metadata.js'
import { check, field } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { validationRules } from '../common/validation.js'
import { checkClaimSpec, defaultClaimSpec, immutableSpec } from './claim-spec.js'
import { CLAIM_TEMPLATE, defaultClaimSpecV1beta1, withV1beta1 } from './v1beta1.js'

const rules = [
  metadata({ namespaced: true }),
  field('spec', [
    field('metadata', templateMetadata),
    check((spec, path) => checkClaimSpec(objectAt(spec, 'spec'), `${path}.spec`)),
  ]),
]

const resourceClaimTemplate = defineKind('resource.k8s.io/v1', 'ResourceClaimTemplate', {
  defaults: template => defaultClaimSpec(objectAt(ensureObject(template, 'spec'), 'spec')),
  strategy: { prepareForUpdate: keepGeneration, returnsDeletedObject: true },
  validation: validationRules({
    create: rules,
    update: [...rules, metadataUpdate, immutableSpec(asGoClaimTemplate)],
  }),
})

export const resourceClaimTemplates = withV1beta1(
  resourceClaimTemplate,
  earlierVersion(resourceClaimTemplate, 'v1beta2', { since: 36 }),
  CLAIM_TEMPLATE,
  { defaults: template => defaultClaimSpecV1beta1(objectAt(ensureObject(template, 'spec'), 'spec')) },
)
