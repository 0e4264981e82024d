// The Endpoints and EndpointSlice of the service `kubernetes`: the addresses under which clients reach the API servers.
import { isIPv6 } from 'node:net'
import type { Kind } from '../../kinds/kind.js'
import { hasReason } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf, withMeta } from '../../meta/object/object-meta.js'
import { objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { serverObjects } from '../../verbs/system-writes.js'
import { SERVICE_NAME } from './mirrored-slices.js'
import { SKIP_MIRROR } from './mirroring.js'

export interface EndpointKinds {
  readonly endpoints: Kind
  readonly endpointSlices: Kind
}

const NAMESPACE = 'default'
const NAME = 'kubernetes'

/** Where clients reach a server. */
export interface ServerAddress {
  readonly address: string
  readonly port: number
}

/**
 * Creates both objects, or changes them if they have other addresses. `addresses` gets those in the Endpoints; `own` is this
 * server.
 */
export async function publishEndpoints(
  context: ApiContext,
  { endpoints, endpointSlices }: EndpointKinds,
  addresses: (published: readonly string[]) => Promise<readonly string[]>,
  own: ServerAddress,
): Promise<void> {
  const objects = serverObjects(context)

  /**
   * False if another server was faster. The addresses are read after the objects, which are changed only as they were read:
   * so an older list never replaces a newer one.
   */
  async function publishOnce(): Promise<boolean> {
    const seen = await objects.get(endpoints, NAMESPACE, NAME)
    const seenSlice = await objects.get(endpointSlices, NAMESPACE, NAME)
    const stored = seen ? objectsAt(seen, 'subsets') : []
    const published = stored.length === 1 ? objectsAt(stored[0]!, 'addresses').map(each => stringAt(each, 'ip')) : []
    const subsets = subsetsFor(await addresses(published), own, stored)
    return (
      (await write(endpoints, seen, { [SKIP_MIRROR]: 'true' }, { subsets })) &&
      writeSlice(seenSlice, { [SERVICE_NAME]: NAME }, sliceOf(subsets))
    )
  }

  async function writeSlice(seen: ApiObject | undefined, labels: Labels, slice: ValueObject): Promise<boolean> {
    if (!seen || seen['addressType'] === slice['addressType']) return write(endpointSlices, seen, labels, slice)
    // The type of the addresses cannot be changed.
    const { uid = '', resourceVersion = '' } = metaOf(seen)
    await objects.delete(endpointSlices, NAMESPACE, NAME, { preconditions: { uid, resourceVersion } })
    return write(endpointSlices, undefined, labels, slice)
  }

  async function write(
    kind: Kind,
    seen: ApiObject | undefined,
    labels: Labels,
    content: ValueObject,
  ): Promise<boolean> {
    if (!seen) return create(kind, labels, content)
    if (contains(metaOf(seen).labels, labels) && contains(seen, content)) return true
    let isAsSeen = false
    await objects.change(kind, NAMESPACE, NAME, old => {
      isAsSeen = metaOf(old).resourceVersion === metaOf(seen).resourceVersion
      if (!isAsSeen) return undefined
      const meta = { ...metaOf(old), labels: { ...metaOf(old).labels, ...labels } }
      return { ...(withMeta(old, meta) as ApiObject), ...structuredClone(content) }
    })
    return isAsSeen
  }

  async function create(kind: Kind, labels: Labels, content: ValueObject): Promise<boolean> {
    try {
      await objects.createNew(kind, {
        metadata: { name: NAME, namespace: NAMESPACE, labels },
        ...structuredClone(content),
      })
      return true
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error
      return false
    }
  }

  while (!(await publishOnce()));
}

type Labels = Readonly<Record<string, string>>

/**
 * All addresses have the same ports. A server changes them only if it is alone, so that servers with different ports do not
 * replace each other's.
 */
function subsetsFor(
  addresses: readonly string[],
  { address, port }: ServerAddress,
  stored: readonly ValueObject[],
): ValueObject[] {
  if (addresses.length === 0) return []
  const [subset = {}] = stored.length === 1 ? stored : []
  const storedPorts = objectsAt(subset, 'ports')
  const isAlone = addresses.length === 1 && addresses[0] === address
  const ports = isAlone || storedPorts.length === 0 ? [{ name: 'https', port, protocol: 'TCP' }] : storedPorts
  return [{ addresses: addresses.map(ip => ({ ip })), ports: [...ports] }]
}

/** A slice has addresses of one family. */
function sliceOf(subsets: readonly ValueObject[]): ValueObject {
  const [subset = {}] = subsets
  const addresses = objectsAt(subset, 'addresses').map(address => stringAt(address, 'ip'))
  const hasIPv6 = addresses.length > 0 && addresses.every(isIPv6)
  return {
    addressType: hasIPv6 ? 'IPv6' : 'IPv4',
    endpoints: addresses
      .filter(address => isIPv6(address) === hasIPv6)
      .map(address => ({ addresses: [address], conditions: { ready: true } })),
    ports: [...objectsAt(subset, 'ports')],
  }
}

/** Whether all of `part` is in `whole`, which may have further fields by default. */
function contains(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return Object.is(whole, part) || Number(whole) === part
  if (typeof whole !== 'object' || whole === null) return false
  if (Array.isArray(part) && (!Array.isArray(whole) || whole.length !== part.length)) return false
  return Object.entries(part).every(([name, value]) => contains((whole as Record<string, unknown>)[name], value))
}
