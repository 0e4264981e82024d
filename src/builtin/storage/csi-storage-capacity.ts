// CSIStorageCapacity: how much storage of a class is left for the nodes of a topology.
import { checkDnsSubdomain } from '../../meta/object/names.js'
import { checkLabelSelector } from '../../meta/selectors/label-selectors.js'
import { stringAt } from '../../meta/values/access.js'
import { defineKind } from '../common/define-kind.js'
import { checkText } from '../common/field-checks.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, immutable, optional, type Rule } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { validationRules } from '../common/validation.js'
import { checkNotNegativeAmount } from '../core/pod/containers/container-resources.js'

const rules: readonly Rule[] = [
  metadata({ namespaced: true }),
  optional('nodeTopology', [check((selector, path) => checkLabelSelector(selector, path))]),
  check(capacity => checkText(stringAt(capacity, 'storageClassName'), checkDnsSubdomain, 'storageClassName')),
  check(capacity => checkNotNegativeAmount(capacity, 'capacity', 'capacity')),
]

export const csiStorageCapacity = defineKind('storage.k8s.io/v1', 'CSIStorageCapacity', {
  strategy: { prepareForUpdate: keepGeneration, allowUnconditionalUpdate: false },
  validation: validationRules({
    create: rules,
    update: [...rules, metadataUpdate, immutable('nodeTopology', { selector: true }), immutable('storageClassName')],
  }),
})
