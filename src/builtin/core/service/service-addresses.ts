// The assignment of cluster IPs and node ports to a service. The server brings the pool that knows what is free; this
// file decides what to request from it, and reports what it refuses.

import type { Result } from '../../../base/result.js'
import { limitErrors } from '../../../meta/errors/error-limit.js'
import { childPath, type FieldError, fieldInvalid, indexPath } from '../../../meta/errors/field-errors.js'
import { internalError } from '../../../meta/errors/status.js'
import { quote } from '../../../meta/go/go-text.js'
import { has, numberAt, objectAt, objectsAt, stringAt, stringsAt } from '../../../meta/values/access.js'
import { firstByKey } from '../../../meta/values/list-keys.js'
import { equalValues, getOwn, type ValueObject } from '../../../meta/values/value.js'
import { familyOf, type IpFamily, STRICT_IPS } from '../../common/ip-rules.js'
import { FULL } from './address-range.js'
import { checkClusterIps, isHeadless, needsClusterIp } from './address-rules.js'

export interface AddressPool {
  /** The families of the cluster, the preferred one first. */
  readonly families: readonly IpFamily[]
  /** Whether addresses in other forms are refused, such as with leading zeros (StrictIPCIDRValidation). */
  readonly isStrict: boolean
  /** Takes this address, or any. The error is a reason: `provided IP is already allocated`. */
  readonly takeAddress: (family: IpFamily, address?: string) => Promise<Result<string>>
  readonly releaseAddress: (address: string) => Promise<void>
  /** Takes this port, or any, for all protocols. */
  readonly takeNodePort: (port?: number) => Promise<Result<number>>
  readonly releaseNodePort: (port: number) => Promise<void>
}

export interface Assigned {
  readonly errors: readonly FieldError[]
  /** Releases what was taken, if the service is not stored. */
  readonly undo: () => Promise<void>
}

/** Fills in families, addresses and node ports of a service that is about to be stored, before it is validated. */
export async function assignAddresses(
  service: ValueObject,
  old: ValueObject | undefined,
  pool: AddressPool,
): Promise<Assigned> {
  const spec = objectAt(service, 'spec')
  const oldSpec = old && storedSpec(old)
  const taken: Taken = []
  const undo = async (): Promise<void> => {
    for (const release of taken.splice(0)) await release()
  }
  const steps = [
    async () => limitErrors(() => assignFamilies(spec, oldSpec, pool)),
    () => takeAddresses(service, oldSpec, pool, taken),
    () => (oldSpec ? takeMoreNodePorts(spec, oldSpec, pool, taken) : takeNodePorts(spec, pool, taken)),
    () => takeHealthPort(spec, oldSpec ?? {}, pool, taken),
  ]
  for (const step of steps) {
    const errors = await step().catch(async (error: unknown) => {
      await undo()
      throw error
    })
    if (errors.length > 0) {
      await undo()
      return { errors, undo }
    }
  }
  return { errors: [], undo }
}

/** A service that was stored before it could have two addresses has only `clusterIP`. */
function storedSpec(service: ValueObject): ValueObject {
  const spec = objectAt(service, 'spec')
  const address = stringAt(spec, 'clusterIP')
  return address === '' || has(spec, 'clusterIPs') ? spec : { ...spec, clusterIPs: [address] }
}

/** Functions that release what was taken so far. */
type Taken = (() => Promise<void>)[]

/** Releases what the service no longer has: all of it, or what an update removed. */
export async function releaseAddresses(
  old: ValueObject,
  now: ValueObject | undefined,
  pool: AddressPool,
): Promise<void> {
  const before = storedSpec(old)
  const after = now === undefined ? {} : objectAt(now, 'spec')
  const kept = new Set(stringsAt(after, 'clusterIPs'))
  for (const address of stringsAt(before, 'clusterIPs')) {
    if (address !== 'None' && !kept.has(address)) await pool.releaseAddress(address)
  }
  const ports = nodePortsOf(after)
  for (const port of nodePortsOf(before)) if (!ports.has(port)) await pool.releaseNodePort(port)
}

export const needsNodePorts = (spec: ValueObject): boolean => {
  const type = stringAt(spec, 'type')
  return type === 'NodePort' || (type === 'LoadBalancer' && getOwn(spec, 'allocateLoadBalancerNodePorts') !== false)
}

export const needsHealthPort = (spec: ValueObject): boolean =>
  stringAt(spec, 'type') === 'LoadBalancer' && stringAt(spec, 'externalTrafficPolicy') === 'Local'

// ---- families

function assignFamilies(spec: ValueObject, old: ValueObject | undefined, pool: AddressPool): readonly FieldError[] {
  if (stringAt(spec, 'type') === 'ExternalName') return []
  if (old !== undefined && keepsPreferredFamilies(spec, old)) return []
  const isOpen = stringAt(spec, 'clusterIP') === 'None' && Object.keys(objectAt(spec, 'selector')).length === 0
  if (!has(spec, 'ipFamilyPolicy')) {
    const inherited = old === undefined ? '' : stringAt(old, 'ipFamilyPolicy')
    spec['ipFamilyPolicy'] = inherited || (isOpen ? 'RequireDualStack' : 'SingleStack')
  }
  const malformed = checkClusterIps(spec).filter(error => pool.isStrict || error.gate !== STRICT_IPS)
  if (malformed.length > 0) return malformed
  const policy = stringAt(spec, 'ipFamilyPolicy')
  const reduced = old === undefined ? [] : reduceFamilies(spec, old, policy)
  const addresses = stringsAt(spec, 'clusterIPs')
  const families = [...stringsAt(spec, 'ipFamilies')]
  const errors = [...reduced, ...checkSingleStack(policy, addresses, families)]
  addresses.forEach((address, i) => {
    const family = familyOf(address)
    if (family === undefined || i < families.length) return
    if (pool.families.includes(family)) families.push(family)
    else {
      const why = `${family} is not configured on this cluster`
      errors.push(fieldInvalid(indexPath('spec.clusterIPs', i), [...addresses], why))
    }
  })
  if (errors.length > 0) return errors

  // The endpoints of an open service are written by hand, and may be of any family.
  const wrong = isOpen ? [] : checkConfigured(policy, families, pool)
  if (wrong.length > 0) return wrong
  if (families.length === 0) families.push(pool.families[0] ?? 'IPv4')
  const hasBoth = isOpen || pool.families.length === 2
  if (policy !== 'SingleStack' && families.length === 1 && hasBoth) families.push(other(families[0]!))
  spec['ipFamilies'] = families
  return []
}

/** PreferDualStack does not change a service when the families of the cluster have changed. */
function keepsPreferredFamilies(spec: ValueObject, old: ValueObject): boolean {
  const same = (field: string): boolean => equalValues(getOwn(spec, field) ?? [], getOwn(old, field) ?? [])
  return (
    needsClusterIp(spec) &&
    stringAt(spec, 'type') === stringAt(old, 'type') &&
    stringAt(spec, 'ipFamilyPolicy') === 'PreferDualStack' &&
    stringAt(old, 'ipFamilyPolicy') === 'PreferDualStack' &&
    same('clusterIPs') &&
    same('ipFamilies')
  )
}

/** An update to SingleStack takes away the second address and family; with another policy they must stay. */
function reduceFamilies(spec: ValueObject, old: ValueObject, policy: string): FieldError[] {
  const errors: FieldError[] = []
  for (const [field, what] of [
    ['clusterIPs', 'cluster IP'],
    ['ipFamilies', 'IP family'],
  ] as const) {
    const [now, before] = [stringsAt(spec, field), stringsAt(old, field)]
    if (policy === 'SingleStack') {
      if (now.length > 1 && equalValues([...now], [...before])) spec[field] = now.slice(0, 1)
    } else if (now.length > 0 && now.length < before.length) {
      errors.push(fieldInvalid('spec.ipFamilyPolicy', policy, `must be 'SingleStack' to release the secondary ${what}`))
    }
  }
  return errors
}

function checkSingleStack(policy: string, addresses: readonly string[], families: readonly string[]): FieldError[] {
  if (policy !== 'SingleStack') return []
  const given = [...(addresses.length === 2 ? ['cluster IPs'] : []), ...(families.length === 2 ? ['IP families'] : [])]
  return given.map(what =>
    fieldInvalid(
      'spec.ipFamilyPolicy',
      policy,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    ),
  )
}

function checkConfigured(policy: string, families: readonly string[], pool: AddressPool): FieldError[] {
  const errors: FieldError[] = []
  if (policy === 'RequireDualStack' && pool.families.length < 2) {
    const why = 'this cluster is not configured for dual-stack services'
    errors.push(fieldInvalid('spec.ipFamilyPolicy', policy, why))
  }
  families.forEach((family, i) => {
    if (pool.families.some(configured => configured === family)) return
    errors.push(fieldInvalid(indexPath('spec.ipFamilies', i), family, 'not configured on this cluster'))
  })
  return errors
}

const other = (family: string): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4')

// ---- addresses

async function takeAddresses(
  service: ValueObject,
  oldSpec: ValueObject | undefined,
  pool: AddressPool,
  taken: Taken,
): Promise<FieldError[]> {
  const spec = objectAt(service, 'spec')
  if (!needsClusterIp(spec) || isHeadless(spec)) return []
  const families = stringsAt(spec, 'ipFamilies')
  const requested = stringsAt(spec, 'clusterIPs')
  const first = oldSpec === undefined ? 0 : firstToTake(oldSpec, families.length)
  const addresses = requested.slice(0, first)
  for (const [i, family] of families.entries()) {
    if (i < first) continue
    const request = requested[i]
    const got = await pool.takeAddress(family as IpFamily, request)
    if (!got.ok && got.error === FULL && request === undefined) {
      const name = quote(stringAt(objectAt(service, 'metadata'), 'name'))
      throw internalError(`failed to allocate a serviceIP for Service ${name}: ${FULL}`)
    }
    if (!got.ok) {
      const which = request === undefined ? 'IP' : `IP ${request}`
      const shown = families.map((_, at) => requested[at] ?? '')
      return [fieldInvalid('spec.clusterIPs', shown, `failed to allocate ${which}: ${got.error}`)]
    }
    taken.push(() => pool.releaseAddress(got.value))
    addresses.push(got.value)
  }
  if (first < families.length) {
    spec['clusterIP'] = addresses[0]!
    spec['clusterIPs'] = addresses
  }
  return []
}

/** An update takes all addresses of a service that had none by its type, and that of a second family; no others. */
function firstToTake(oldSpec: ValueObject, families: number): number {
  if (!needsClusterIp(oldSpec)) return 0
  const before = stringsAt(oldSpec, 'ipFamilies').length || stringsAt(oldSpec, 'clusterIPs').length
  return before === 1 && families === 2 && !isHeadless(oldSpec) ? 1 : families
}

// ---- node ports

/** The node ports of the service, with that of its health check. */
export const nodePortsOf = (spec: ValueObject): ReadonlySet<number> =>
  new Set(
    [...objectsAt(spec, 'ports').map(port => numberAt(port, 'nodePort')), numberAt(spec, 'healthCheckNodePort')].filter(
      port => port !== 0,
    ),
  )

/** Ports of the same number share one node port for all protocols, unless they name others. */
async function takeNodePorts(spec: ValueObject, pool: AddressPool, taken: Taken): Promise<FieldError[]> {
  if (!mayHaveNodePorts(spec)) return []
  const ports = objectsAt(spec, 'ports')
  const known = new Map<number, number>()
  const requested = firstByKey(
    ports.filter(port => numberAt(port, 'nodePort') !== 0),
    port => String(numberAt(port, 'port')),
  )
  for (const [i, port] of ports.entries()) {
    if (numberAt(port, 'nodePort') === 0 && !needsNodePorts(spec)) continue
    const number = numberAt(port, 'port')
    const shared = known.get(number)
    const own = numberAt(port, 'nodePort')
    if (shared !== undefined && (own === 0 || own === shared)) {
      port['nodePort'] = shared
      continue
    }
    const named = requested.get(String(number))
    const request = shared === undefined && named ? numberAt(named, 'nodePort') : own
    const errors = await takeNodePort(port, request, i, pool, taken)
    if (errors.length > 0) return errors
    if (shared === undefined) known.set(number, numberAt(port, 'nodePort'))
  }
  return []
}

/** Ports that the service had are not taken again. */
async function takeMoreNodePorts(
  spec: ValueObject,
  oldSpec: ValueObject,
  pool: AddressPool,
  taken: Taken,
): Promise<FieldError[]> {
  if (!mayHaveNodePorts(spec)) return []
  const owned = new Set(nodePortsOf(oldSpec))
  for (const [i, port] of objectsAt(spec, 'ports').entries()) {
    const request = numberAt(port, 'nodePort')
    if (request === 0 ? !needsNodePorts(spec) : owned.has(request)) continue
    const errors = await takeNodePort(port, request, i, pool, taken)
    if (errors.length > 0) return errors
    owned.add(numberAt(port, 'nodePort'))
  }
  return []
}

const mayHaveNodePorts = (spec: ValueObject): boolean => ['NodePort', 'LoadBalancer'].includes(stringAt(spec, 'type'))

async function takeNodePort(
  port: ValueObject,
  request: number,
  index: number,
  pool: AddressPool,
  taken: Taken,
): Promise<FieldError[]> {
  const got = await pool.takeNodePort(request === 0 ? undefined : request)
  if (!got.ok) return [fieldInvalid(childPath(indexPath('spec.ports', index), 'nodePort'), request, got.error)]
  taken.push(() => pool.releaseNodePort(got.value))
  port['nodePort'] = got.value
  return []
}

async function takeHealthPort(
  spec: ValueObject,
  oldSpec: ValueObject,
  pool: AddressPool,
  taken: Taken,
): Promise<FieldError[]> {
  const request = numberAt(spec, 'healthCheckNodePort')
  if (!needsHealthPort(spec) || (request !== 0 && request === numberAt(oldSpec, 'healthCheckNodePort'))) return []
  const got = await pool.takeNodePort(request === 0 ? undefined : request)
  if (!got.ok) return [fieldInvalid('spec.healthCheckNodePort', request, got.error)]
  taken.push(() => pool.releaseNodePort(got.value))
  spec['healthCheckNodePort'] = got.value
  return []
}

// ---- updates

/** Takes from the old service what was assigned to it and the client left out. */
export function keepAssigned(spec: ValueObject, oldSpec: ValueObject): void {
  if (needsClusterIp(spec) && needsClusterIp(oldSpec)) {
    if (stringAt(spec, 'clusterIP') === '') keep(spec, oldSpec, 'clusterIP')
    if (!has(spec, 'clusterIPs')) keep(spec, oldSpec, 'clusterIPs')
  }
  if (needsNodePorts(spec) && needsNodePorts(oldSpec)) keepNodePorts(spec, oldSpec)
  if (needsHealthPort(spec) && needsHealthPort(oldSpec) && numberAt(spec, 'healthCheckNodePort') === 0) {
    keep(spec, oldSpec, 'healthCheckNodePort')
  }
}

function keepNodePorts(spec: ValueObject, oldSpec: ValueObject): void {
  const key = (port: ValueObject): string => `${stringAt(port, 'protocol')} ${numberAt(port, 'port')}`
  const before = new Map(objectsAt(oldSpec, 'ports').map(port => [key(port), numberAt(port, 'nodePort')]))
  const used = new Set(objectsAt(spec, 'ports').map(port => numberAt(port, 'nodePort')))
  for (const port of objectsAt(spec, 'ports')) {
    const had = before.get(key(port)) ?? 0
    if (numberAt(port, 'nodePort') !== 0 || had === 0 || used.has(had)) continue
    port['nodePort'] = had
    used.add(had)
  }
}

/** `clusterIP` is the first of `clusterIPs`: the one that the client changed counts. */
export function syncClusterIps(spec: ValueObject, oldSpec: ValueObject | undefined): void {
  const first = stringAt(spec, 'clusterIP')
  if (oldSpec === undefined) {
    if (first !== '' && !has(spec, 'clusterIPs')) spec['clusterIPs'] = [first]
    return
  }
  if (first === stringAt(oldSpec, 'clusterIP')) {
    if (first !== '' && !has(spec, 'clusterIPs')) spec['clusterIPs'] = oldSpec['clusterIPs'] ?? [first]
  } else if (equalValues(getOwn(spec, 'clusterIPs') ?? null, getOwn(oldSpec, 'clusterIPs') ?? null)) {
    if (first === '') delete spec['clusterIPs']
    else spec['clusterIPs'] = [first]
  }
}

/** Removes fields that the new type does not have, unless the client changed them too. */
export function dropForType(spec: ValueObject, oldSpec: ValueObject): void {
  const same = (field: string): boolean => equalValues(getOwn(spec, field) ?? null, getOwn(oldSpec, field) ?? null)
  const dropIfSame = (...fields: readonly string[]): void => {
    for (const field of fields) if (same(field)) delete spec[field]
  }
  if (needsClusterIp(oldSpec) && !needsClusterIp(spec)) {
    if (same('clusterIP') && same('clusterIPs')) dropIfSame('clusterIP', 'clusterIPs')
    dropIfSame('ipFamilies', 'ipFamilyPolicy')
  }
  if (mayHaveNodePorts(oldSpec) && !mayHaveNodePorts(spec) && sameNodePorts(spec, oldSpec)) {
    for (const port of objectsAt(spec, 'ports')) delete port['nodePort']
  }
  if (needsHealthPort(oldSpec) && !needsHealthPort(spec)) dropIfSame('healthCheckNodePort')
  const balanced = (of: ValueObject): boolean => stringAt(of, 'type') === 'LoadBalancer'
  if (balanced(oldSpec) && !balanced(spec)) dropIfSame('allocateLoadBalancerNodePorts', 'loadBalancerClass')
  if (isExternallyAccessible(oldSpec) && !isExternallyAccessible(spec)) dropIfSame('externalTrafficPolicy')
}

/** True if clients outside the cluster can reach the service. */
export function isExternallyAccessible(spec: ValueObject): boolean {
  const type = stringAt(spec, 'type')
  if (type === 'NodePort' || type === 'LoadBalancer') return true
  return type === 'ClusterIP' && stringsAt(spec, 'externalIPs').length > 0
}

/** Each port has none, or one that the service had before. */
function sameNodePorts(spec: ValueObject, oldSpec: ValueObject): boolean {
  const before = new Set(objectsAt(oldSpec, 'ports').map(port => numberAt(port, 'nodePort')))
  return objectsAt(spec, 'ports').every(
    port => numberAt(port, 'nodePort') === 0 || before.has(numberAt(port, 'nodePort')),
  )
}

function keep(spec: ValueObject, oldSpec: ValueObject, field: string): void {
  if (has(oldSpec, field)) spec[field] = oldSpec[field]!
}
