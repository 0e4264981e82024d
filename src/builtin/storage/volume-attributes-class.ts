// VolumeAttributesClass: parameters that a driver applies to a volume, also later.
import { fieldForbidden, fieldRequired } from '../../meta/errors/field-errors.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import { getOwn } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { earlierVersion } from '../common/earlier-version.js'
import { sameValue } from '../common/field-checks.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check, checkUpdate, type Rule } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { driverName, parameters } from './class-rules.js'

const someParameters = check(attributes =>
  Object.keys(objectAt(attributes, 'parameters')).length === 0
    ? [fieldRequired('parameters', 'must contain at least one key/value pair')]
    : [],
)

const rules: readonly Rule[] = [
  metadata({ namespaced: false }),
  ...driverName('driverName'),
  parameters,
  someParameters,
]

const unchanged = (name: string): Rule =>
  checkUpdate((attributes, old) =>
    sameValue(getOwn(attributes, name), getOwn(old, name))
      ? []
      : [fieldForbidden(name, `updates to ${name} are forbidden.`)],
  )

const volumeAttributesClass = defineKind('storage.k8s.io/v1', 'VolumeAttributesClass', {
  strategy: { prepareForUpdate: keepGeneration, returnsDeletedObject: true },
  validation: validationRules({
    create: rules,
    update: [metadataUpdate, unchanged('driverName'), unchanged('parameters'), ...rules],
  }),
  table: (attributes, now) => [nameOf(attributes), stringAt(attributes, 'driverName'), ageOf(attributes, now)],
})

export const volumeAttributesClasses = [
  volumeAttributesClass,
  earlierVersion(volumeAttributesClass, 'v1beta1', { since: 34, use: 'v1' }),
]
