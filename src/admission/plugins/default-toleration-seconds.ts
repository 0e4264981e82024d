// DefaultTolerationSeconds: a pod stays for five minutes on a node that is not ready or cannot be reached, unless its own
// tolerations say otherwise.

import { type ApiObject } from '../../meta/object/api-object.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { AdmissionPlugin } from '../chain.js'

const TAINTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']
const TOLERATION_SECONDS = 300

export const defaultTolerationSeconds: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  operations: new Set(['CREATE', 'UPDATE']),
  resources: ['pods'],
  mutate: ({ object }) => object && withTolerations(object),
}

/** The pod with the tolerations that it lacks; undefined if it lacks none. */
function withTolerations(pod: ApiObject): ApiObject | undefined {
  const spec = objectAt(pod, 'spec')
  const own = objectsAt(spec, 'tolerations')
  const tolerates = (key: string): boolean =>
    own.some(
      toleration =>
        ['', key].includes(stringAt(toleration, 'key')) && ['', 'NoExecute'].includes(stringAt(toleration, 'effect')),
    )
  const added = TAINTS.filter(key => !tolerates(key)).map(
    (key): ValueObject => ({
      key,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: TOLERATION_SECONDS,
    }),
  )
  return added.length === 0 ? undefined : { ...pod, spec: { ...spec, tolerations: [...own, ...added] } }
}
