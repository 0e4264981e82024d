// DeviceClass.
import { fieldInvalid } from '../../meta/errors/field-errors.js'
import { has, stringAt } from '../../meta/values/access.js'
import { defineKind } from '../common/define-kind.js'
import { earlierVersion } from '../common/earlier-version.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, field } from '../common/rules.js'
import { specOnly } from '../common/strategies.js'
import { validationRules } from '../common/validation.js'
import { isExtendedName } from '../core/pod/containers/container-resources.js'
import { checkItems } from './device-names.js'
import { checkConfiguration, checkSelector } from './device-rules.js'

const rules = [
  metadata({ namespaced: false }),
  field('spec', [
    check((spec, path) => checkItems(spec, 'selectors', path, checkSelector)),
    check((spec, path) => checkItems(spec, 'config', path, checkConfiguration)),
    check((spec, path) => {
      const name = stringAt(spec, 'extendedResourceName')
      return !has(spec, 'extendedResourceName') || isExtendedName(name)
        ? []
        : [fieldInvalid(`${path}.extendedResourceName`, name, 'must be a valid extended resource name')]
    }),
  ]),
]

const deviceClass = defineKind('resource.k8s.io/v1', 'DeviceClass', {
  strategy: { ...specOnly, returnsDeletedObject: true },
  validation: validationRules({ create: rules, update: [metadataUpdate, ...rules] }),
})

export const deviceClasses = [
  deviceClass,
  earlierVersion(deviceClass, 'v1beta2', { since: 36 }),
  earlierVersion(deviceClass, 'v1beta1', { since: 35 }),
]
