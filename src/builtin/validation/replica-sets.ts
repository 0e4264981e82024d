// Replica sets, and replication controllers, which came before them: so many pods of one template.
import { type FieldError, fieldRequired } from '../../meta/errors/field-errors.js'
import { mapAt, objectOrNone } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import {
  checkCounts,
  checkLastingPods,
  checkSelectorAndTemplate,
  checkStatusCounts,
  checkTemplateLabels,
  podOwnerValidation,
} from './pod-owners.js'

const checkStatus = (status: ValueObject): FieldError[] =>
  checkStatusCounts(
    status,
    ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
    ['observedGeneration', 'terminatingReplicas'],
  )

export const replicaSetValidation = podOwnerValidation(
  spec => [
    ...checkCounts(spec, ['replicas', 'minReadySeconds'], 'spec'),
    ...checkSelectorAndTemplate(spec, { owner: 'deployment', podOwner: 'ReplicaSet' }),
  ],
  checkStatus,
)

export const replicationControllerValidation = podOwnerValidation(
  spec => {
    const selector = mapAt(spec, 'selector')
    const keys = Object.keys(selector)
    const template = objectOrNone(spec, 'template')
    return [
      ...checkCounts(spec, ['minReadySeconds'], 'spec'),
      ...(keys.length === 0 ? [fieldRequired('spec.selector')] : []),
      ...checkCounts(spec, ['replicas'], 'spec'),
      ...(template === undefined
        ? [fieldRequired('spec.template')]
        : [
            ...checkTemplateLabels(template, labels =>
              keys.every(key => Object.hasOwn(labels, key) && labels[key] === selector[key]),
            ),
            ...checkLastingPods(template, 'ReplicationController'),
          ]),
    ]
  },
  checkStatus,
  { selectorStays: false },
)
