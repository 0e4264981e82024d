// Objects that an older release has stored: the defaults that came later are filled in when they are read, as kube-apiserver
// does. Two kinds have fields that belong together, of which an old object has only some.
import type { Strategy } from '../kinds/kind.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { objectAt, objectOrNone, stringAt, stringsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { familyOf, type IpFamily } from './common/ip-rules.js'
import { fillDataSources } from './core/persistent-volume-claim.js'
import { syncClusterIps } from './core/service/service-addresses.js'

/** Finds the strategy of a built-in kind by `apiVersion` and `kind`. */
export type FindStrategy = (apiVersion: string, kind: string) => Pick<Strategy, 'applyDefaults'> | undefined

/** `families`: those of the cluster, the preferred one first. May change its argument. */
export function storedDefaults(find: FindStrategy, families: readonly IpFamily[]): (object: ApiObject) => ApiObject {
  const strategyOf = remembered(find)
  return object => {
    const { apiVersion, kind } = object
    const filled = strategyOf(apiVersion, kind)?.applyDefaults(object) ?? object
    if (apiVersion !== 'v1') return filled
    const spec = objectOrNone(filled, 'spec')
    if (kind === 'Service' && spec) fillService(spec, families)
    if (kind === 'PersistentVolumeClaim' && spec) fillDataSources(spec)
    return filled
  }
}

/** Each object that is read asks for its strategy. */
function remembered(find: FindStrategy): FindStrategy {
  const known = new Map<string, ReturnType<FindStrategy>>()
  return (apiVersion, kind) => {
    const key = `${apiVersion} ${kind}`
    if (!known.has(key)) known.set(key, find(apiVersion, kind))
    return known.get(key)
  }
}

function fillService(spec: ValueObject, [preferred = 'IPv4']: readonly IpFamily[]): void {
  syncClusterIps(spec, undefined)
  if (stringAt(spec, 'type') === 'ExternalName') delete spec['internalTrafficPolicy']
  else if (stringsAt(spec, 'ipFamilies').length === 0) fillFamilies(spec, preferred)
}

/** The endpoints of a headless service without a selector are written by hand, and may be of both families. */
function fillFamilies(spec: ValueObject, preferred: IpFamily): void {
  const isHeadless = stringAt(spec, 'clusterIP') === 'None'
  const isOpen = isHeadless && Object.keys(objectAt(spec, 'selector')).length === 0
  const other: IpFamily = preferred === 'IPv4' ? 'IPv6' : 'IPv4'
  const families = isHeadless
    ? [preferred, ...(isOpen ? [other] : [])]
    : stringsAt(spec, 'clusterIPs').map(address => (familyOf(address) === 'IPv6' ? 'IPv6' : 'IPv4'))
  if (families.length === 0) return
  spec['ipFamilies'] = families
  spec['ipFamilyPolicy'] = families.length === 1 ? 'SingleStack' : 'RequireDualStack'
}
