// NodeDeclaredFeatureValidator: a change of a pod that needs a feature of the kubelet is refused unless the node of the pod
// has declared that feature.
import { quote } from '../../meta/go/go-text.js'
import { objectAt, objectsAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { equalValues } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'
import { forbiddenBy } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'
import { changeOnNode, nodeOf, type SpecChange } from './node-of-pod.js'

export const nodeDeclaredFeatureValidator = (objects: Lister): AdmissionPlugin => ({
  name: 'NodeDeclaredFeatureValidator',
  operations: new Set(['UPDATE']),
  resources: ['pods', 'pods/resize'],
  async validate(attributes) {
    const change = changeOnNode(attributes)
    const needed = change ? Object.keys(NEEDED).filter(feature => NEEDED[feature]!(change)) : []
    if (!change || needed.length === 0) return
    const node = await nodeOf(objects, attributes, change)
    const declared = stringsAt(objectAt(node, 'status'), 'declaredFeatures')
    const lacking = needed.filter(feature => !declared.includes(feature))
    if (lacking.length === 0) return
    const name = quote(stringAt(change.spec, 'nodeName'))
    throw forbiddenBy(
      attributes,
      `pod update requires features ${lacking.join(', ')} which are not available on node ${name}`,
    )
  },
})

/** The features that changes need, in the order of their names. Others concern only where a pod is scheduled. */
const NEEDED: Readonly<Record<string, (change: SpecChange) => boolean>> = {
  InPlacePodLevelResourcesVerticalScaling: ({ spec, oldSpec }) =>
    !equalValues(objectAt(spec, 'resources'), objectAt(oldSpec, 'resources')),
  InPlacePodVerticalScalingInitContainers: ({ spec, oldSpec }) =>
    objectsAt(oldSpec, 'initContainers').some((old, i) => {
      const now = objectsAt(spec, 'initContainers')[i]
      return (
        now !== undefined &&
        stringAt(old, 'restartPolicy') !== 'Always' &&
        !equalValues(objectAt(now, 'resources'), objectAt(old, 'resources'))
      )
    }),
}
