// The form of definitions in etcd: kube-apiserver still stores them as v1beta1.
import type { ApiObject } from '../meta/object/api-object.js'
import { copyValue, type ValueObject } from '../meta/values/value.js'
import { convertDefinition, defaultOldDefinition, V1, V1BETA1 } from './definition/definition-v1beta1.js'

export const STORED_DEFINITION = {
  kind: 'CustomResourceDefinition',
  apiVersion: V1,
  storedVersion: V1BETA1,
  toStored: (definition: ApiObject): ApiObject => convertDefinition(definition, V1BETA1),
  /** Stored objects get the defaults of their version when they are read. */
  fromStored: (definition: ApiObject): ApiObject =>
    convertDefinition(defaultOldDefinition(copyValue(definition as ValueObject) as ApiObject), V1),
}
