// PodTemplate: a template by itself, which no controller of Kubernetes uses.
import { ensureObject, mapAt, objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { metadata, metadataUpdate } from '../common/metadata.js'
import { check } from '../common/rules.js'
import { countGeneration, inTurn, keepGeneration, same, startGeneration } from '../common/strategies.js'
import { nameOf, printLabels } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { defaultPodTemplate } from './pod/defaults.js'
import { checkPodTemplate } from './pod/spec/pod-spec.js'
import { templateWarnings } from './pod/warnings.js'

const template = check((object, _, old) =>
  checkPodTemplate(objectAt(object, 'template'), 'template', old && objectAt(old, 'template')),
)

function containerCells(object: ValueObject): [names: string, images: string] {
  const containers = objectsAt(objectAt(objectAt(object, 'template'), 'spec'), 'containers')
  const joined = (field: string): string => containers.map(container => stringAt(container, field)).join(',')
  return [joined('name'), joined('image')]
}

export const podTemplate = defineKind('v1', 'PodTemplate', {
  defaults: object => defaultPodTemplate(ensureObject(object, 'template')),
  strategy: {
    prepareForCreate: startGeneration,
    prepareForUpdate: inTurn(keepGeneration, (object, old) => {
      if (!same(object, old, 'template')) countGeneration(object, old)
    }),
    returnsDeletedObject: true,
  },
  validation: validationRules({
    create: [metadata({ namespaced: true }), template],
    update: [metadataUpdate, template],
  }),
  warnings: templateWarnings('template'),
  table: object => [
    nameOf(object),
    ...containerCells(object),
    printLabels(mapAt(objectAt(objectAt(object, 'template'), 'metadata'), 'labels')),
  ],
})
