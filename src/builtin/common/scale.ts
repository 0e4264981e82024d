// The scale subresource of built-in kinds: the Scale (autoscaling/v1) of an object, and the object with a given Scale.
import type { ScaleStrategy } from '../../kinds/kind.js'
import { fieldInvalid } from '../../meta/errors/field-errors.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { checkDnsSubdomain } from '../../meta/object/names.js'
import { checkObjectMeta, metaOf } from '../../meta/object/object-meta.js'
import { printLabelSelector, selectorOf } from '../../meta/selectors/label-selectors.js'
import { mapAt, numberAt, objectAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'

/** For kinds with `spec.replicas`, `status.replicas` and a selector in their spec. */
export const scaleRules: ScaleStrategy = {
  read(object) {
    const { name = '', namespace = '', uid = '', resourceVersion = '', creationTimestamp = null } = metaOf(object)
    const selector = selectorText(objectAt(object, 'spec'))
    return {
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
      spec: replicas(numberAt(objectAt(object, 'spec'), 'replicas')),
      status: {
        replicas: numberAt(objectAt(object, 'status'), 'replicas'),
        ...(selector !== '' && { selector }),
      },
    }
  },
  replicasPath: ['spec', 'replicas'],
  checksUid: true,
  validate(scale) {
    const count = numberAt(objectAt(scale, 'spec'), 'replicas')
    const errors = checkObjectMeta(metaOf(scale), { namespaced: true, name: checkDnsSubdomain })
    if (count < 0) errors.push(fieldInvalid('spec.replicas', count, 'must be greater than or equal to 0'))
    return errors
  },
  write: (object, scale): ApiObject => ({
    ...object,
    spec: { ...objectAt(object, 'spec'), replicas: numberAt(objectAt(scale, 'spec'), 'replicas') },
  }),
}

/** Zero replicas are not written. */
const replicas = (count: number): ValueObject => (count === 0 ? {} : { replicas: count })

function selectorText(spec: ValueObject): string {
  const selector = objectAt(spec, 'selector')
  const isObjectForm = Object.hasOwn(selector, 'matchLabels') || Object.hasOwn(selector, 'matchExpressions')
  const parsed = selectorOf(isObjectForm ? selector : { matchLabels: mapAt(spec, 'selector') })
  return parsed.ok ? printLabelSelector(parsed.value) : ''
}
