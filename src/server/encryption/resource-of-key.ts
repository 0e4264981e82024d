// The resource of a key, by which an EncryptionConfiguration names it.
import type { Registry } from '../../kinds/registry.js'
import { createKindFinder } from '../observability/kind-of-key.js'

export interface ResourceOfKey {
  readonly group: string
  readonly resource: string
  /** False for what is no object of the API. */
  readonly isObject: boolean
}

/** What kube-apiserver stores beside objects, by the names that `*.` covers. */
const RANGES: Readonly<Record<string, string>> = {
  '/ranges/servicenodeports': 'servicenodeportallocations',
  '/ranges/serviceips': 'serviceipallocations',
}

/** The addresses of API servers. */
const SERVER_LEASES = '/masterleases/'

/** Keys of this server itself, such as the one that signs tokens: they are kept as Secrets are. */
export const OWN_PREFIX = '/binnacle/'
const OWN: ResourceOfKey = { group: '', resource: 'secrets', isObject: false }

export function createResourceOfKey(registry: Registry): (key: string) => ResourceOfKey {
  const kindOf = createKindFinder(registry)
  return key => {
    if (key.startsWith(OWN_PREFIX)) return OWN
    const range = RANGES[key]
    if (range !== undefined) return { group: '', resource: range, isObject: false }
    if (key.startsWith(SERVER_LEASES)) return { group: '', resource: 'apiserveripinfo', isObject: false }
    const kind = kindOf(key)
    if (!kind) return ofUnknown(key)
    const { group, names } = kind
    // Events have two groups, and are stored under the older one.
    return { group: group === 'events.k8s.io' ? '' : group, resource: names.plural, isObject: true }
  }
}

/** Objects of a definition that is not served: their keys begin with the group, which has a dot. */
function ofUnknown(key: string): ResourceOfKey {
  const [, first = '', second = ''] = key.split('/')
  return first.includes('.')
    ? { group: first, resource: second, isObject: true }
    : { group: '', resource: first, isObject: true }
}
