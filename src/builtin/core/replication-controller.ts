// ReplicationController: the older form of a ReplicaSet, with a plain map of labels as selector.
import { fieldRequired } from '../../meta/errors/field-errors.js'
import { ensureObject, has, mapAt, objectAt, objectOrNone } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import {
  checkLastingPods,
  checkTemplateLabels,
  labelByTemplate,
  podOwner,
  replicaRow,
  templateLabels,
} from '../apps/pod-owner.js'
import { replicaStatusCounts } from '../apps/replica-set.js'
import { defineKind } from '../common/define-kind.js'
import { check, notNegative } from '../common/rules.js'
import { numberField, selectableFields } from '../common/selectable-fields.js'
import { counted, inTurn, keepGeneration, keepSpec } from '../common/strategies.js'
import { printLabels } from '../common/table-cells.js'
import { defaultPodTemplate } from './pod/defaults.js'
import { templateWarnings } from './pod/warnings.js'

function defaults(controller: ValueObject): void {
  const spec = ensureObject(controller, 'spec')
  const template = objectOrNone(spec, 'template')
  if (template !== undefined) defaultPodTemplate(template)
  if (!has(spec, 'replicas')) spec['replicas'] = 1
  const labels = templateLabels(spec)
  if (Object.keys(labels).length > 0 && Object.keys(objectAt(spec, 'selector')).length === 0) {
    spec['selector'] = { ...labels }
  }
  labelByTemplate(controller)
}

const selectorIsSet = check(spec =>
  Object.keys(mapAt(spec, 'selector')).length === 0 ? [fieldRequired('spec.selector')] : [],
)

const templateMatches = check((spec, _, old) => {
  const selector = mapAt(spec, 'selector')
  const template = objectOrNone(spec, 'template')
  if (template === undefined) return [fieldRequired('spec.template')]
  return [
    ...checkTemplateLabels(template, labels =>
      Object.keys(selector).every(key => Object.hasOwn(labels, key) && labels[key] === selector[key]),
    ),
    ...checkLastingPods(template, 'ReplicationController', old && objectOrNone(old, 'template')),
  ]
})

export const replicationController = defineKind('v1', 'ReplicationController', {
  defaults,
  strategy: counted('core/v1.ReplicationControllerStatus', {
    defaultPropagation: {},
    // A body without a spec got no labels when it was decoded.
    prepareForStatusUpdate: inTurn(keepGeneration, keepSpec, labelByTemplate),
  }),
  validation: podOwner({
    spec: [notNegative('minReadySeconds'), selectorIsSet, notNegative('replicas'), templateMatches],
    specUpdate: [],
    status: [replicaStatusCounts],
  }),
  warnings: templateWarnings('spec.template', { isNamed: true }),
  table: replicaRow(spec => printLabels(mapAt(spec, 'selector'))),
  selectableFields: selectableFields({ 'status.replicas': numberField('status', 'replicas') }),
  keyPrefix: '/controllers/',
})
