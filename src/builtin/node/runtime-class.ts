// RuntimeClass: which handler of the container runtime runs pods of the class, and on which nodes.
import { fieldDuplicate, indexPath } from '../../meta/errors/field-errors.js'
import { checkDnsLabel } from '../../meta/object/names.js'
import { checkLabels } from '../../meta/selectors/label-selectors.js'
import { mapAt, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import { repeatsOf } from '../../meta/values/list-keys.js'
import type { ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { asGoStruct } from '../common/go-struct.js'
import { anyFinalizerUpdate, metadata } from '../common/metadata.js'
import { check, format, immutable, optional, type Rule } from '../common/rules.js'
import { keepGeneration } from '../common/strategies.js'
import { ageOf, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { checkResources } from '../core/pod/containers/container-resources.js'
import { checkTolerations } from '../core/pod/spec/scheduling.js'

/** The fields by which two tolerations are the same. */
const idOf = (toleration: ValueObject): string =>
  JSON.stringify(['key', 'operator', 'value', 'effect'].map(name => stringAt(toleration, name)))

const schedulingRules: readonly Rule[] = [
  check((scheduling, path) => checkLabels(mapAt(scheduling, 'nodeSelector'), `${path}.nodeSelector`)),
  check((scheduling, path) => checkTolerations(scheduling, `${path}.tolerations`)),
  check((scheduling, path) => {
    const tolerations = objectsAt(scheduling, 'tolerations')
    return [...repeatsOf(tolerations.map(idOf))].map(i =>
      fieldDuplicate(indexPath(`${path}.tolerations`, i), asGoStruct('core/v1.Toleration', tolerations[i]!)),
    )
  }),
]

const rules: readonly Rule[] = [
  metadata({ namespaced: false, knownFinalizers: false }),
  format('handler', checkDnsLabel, { required: true }),
  optional('overhead', [check((overhead, path) => checkResources({ limits: objectAt(overhead, 'podFixed') }, path))]),
  optional('scheduling', schedulingRules),
]

export const runtimeClass = defineKind('node.k8s.io/v1', 'RuntimeClass', {
  strategy: { prepareForUpdate: keepGeneration, allowCreateOnUpdate: true, allowUnconditionalUpdate: false },
  validation: validationRules({
    create: rules,
    update: [...rules, anyFinalizerUpdate, immutable('handler')],
  }),
  table: (object, now) => [nameOf(object), stringAt(object, 'handler'), ageOf(object, now)],
})
