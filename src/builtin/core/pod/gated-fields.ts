// Fields of pods whose features are off by default in kube-apiserver, which drops them. It does so after it has noted
// the manager of each field, so that a dropped field has one.
import { objectAt, objectsAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'

export function dropGatedFields(spec: ValueObject): void {
  delete spec['schedulingGroup']
  for (const list of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of objectsAt(spec, list)) delete objectAt(container, 'lifecycle')['stopSignal']
  }
  for (const volume of objectsAt(spec, 'volumes')) {
    for (const source of objectsAt(objectAt(volume, 'projected'), 'sources')) {
      delete source['clusterTrustBundle']
      delete source['podCertificate']
    }
  }
}

/** The same for the template of an object: `path` leads to the template. */
export const dropGatedFieldsAt =
  (...path: readonly string[]) =>
  (object: ValueObject): void =>
    dropGatedFields(objectAt(path.reduce(objectAt, object), 'spec'))
