// PodResizeValidator: a pod that is resized must fit on its node, which must run Linux.
import { withCause } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt } from '../../meta/values/access.js'
import { compareQuantities, type Quantity, quantityOf, scaledQuantity } from '../../meta/values/quantity.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { Lister } from '../../objects/lister.js'
import { forbiddenBy } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'
import { changeOnNode, nodeOf } from './node-of-pod.js'
import { amountsIn, resourcesOfPod } from './pod-resources.js'

export const podResizeValidator = (objects: Lister): AdmissionPlugin => ({
  name: 'PodResizeValidator',
  operations: new Set(['UPDATE']),
  resources: ['pods/resize'],
  async validate(attributes) {
    const change = changeOnNode(attributes)
    if (!change) return
    const node = await nodeOf(objects, attributes, change)
    const refusal = refusalOfPlatform(node) ?? refusalOfSize(change.spec, node)
    if (refusal) throw withCause(forbiddenBy(attributes, refusal.why), { reason: refusal.reason })
  },
})

interface Refusal {
  readonly reason: string
  readonly why: string
}

function refusalOfPlatform(node: ApiObject): Refusal | undefined {
  const { name = '', labels = {} } = metaOf(node)
  const os = labels['kubernetes.io/os'] ?? 'linux'
  if (os === 'linux') return undefined
  return {
    reason: 'UnsupportedPlatform',
    why: `pod resize is only supported on linux nodes, node ${quote(name)} is ${quote(os)}`,
  }
}

const NONE = quantityOf(0n)
/** Each resource with the unit in which it is printed, as a power of ten. */
const SIZES: readonly [name: string, scale: number][] = [
  ['cpu', -3],
  ['memory', 0],
]

function refusalOfSize(spec: ValueObject, node: ApiObject): Refusal | undefined {
  const { requests } = resourcesOfPod(spec)
  const allocatable = amountsIn(objectAt(objectAt(node, 'status'), 'allocatable'))
  const lacking = SIZES.flatMap(([name, scale]) => {
    const requested = requests.get(name) ?? NONE
    const offered = allocatable.get(name) ?? NONE
    if (compareQuantities(requested, offered) <= 0) return []
    const print = (amount: Quantity): string => String(scaledQuantity(amount, scale))
    return `${name}, requested: ${print(requested)}, allocatable: ${print(offered)}`
  })
  if (lacking.length === 0) return undefined
  return { reason: 'NodeCapacity', why: `node didn't have enough allocatable resources: ${lacking.join('; ')}` }
}
