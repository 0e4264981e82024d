// Definitions to test with.
import { type ApiObject } from '../meta/object/api-object.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'
import { defaultDefinition } from './definition/definition-defaults.js'

/** A definition of Widgets; what is given goes into its spec, or into its only version. */
export function widgetDefinition(spec: ValueObject = {}, version: ValueObject = {}): ApiObject {
  return defaultDefinition({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { plural: 'widgets', kind: 'Widget' },
      scope: 'Namespaced',
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } }, ...version },
      ],
      ...spec,
    },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  })
}

/** A status without the times of its conditions. */
export function withoutTimes(status: Value): Value {
  if (!isObject(status) || !Array.isArray(status['conditions'])) return status
  const conditions = status['conditions'].map(each => {
    const { lastTransitionTime: _, ...condition } = each as ValueObject
    return condition
  })
  return { ...status, conditions }
}
