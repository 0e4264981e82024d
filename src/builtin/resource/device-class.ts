// DeviceClass.
import { defineKind } from '../common/define-kind.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, field } from '../common/rules.js'
import { specOnly } from '../common/strategies.js'
import { validationRules } from '../common/validation.js'
import { checkConfiguration, checkItems, checkSelector } from './device-rules.js'

const rules = [
  metadata({ namespaced: false }),
  field('spec', [
    check((spec, path) => checkItems(spec, 'selectors', path, checkSelector)),
    check((spec, path) => checkItems(spec, 'config', path, checkConfiguration)),
  ]),
]

export const deviceClass = defineKind('resource.k8s.io/v1', 'DeviceClass', {
  strategy: { ...specOnly, returnsDeletedObject: true },
  validation: validationRules({ create: rules, update: [metadataUpdate, ...rules] }),
})
