// The Endpoints and EndpointSlice of the service `kubernetes`: the address under which clients reach this server.
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Kind } from '../../../kinds/kind.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import type { ValueObject } from '../../../meta/values/value.js'
import type { ApiContext } from '../../../verbs/api-context.js'
import { serverObjects } from '../../../verbs/system-writes.js'
import type { ServingOptions } from '../../options/serving.js'

/** The address to publish; undefined where the server is reached from this machine only: Endpoints refuse such addresses. */
export function advertisedAddress({ advertiseAddress, https }: ServingOptions): string | undefined {
  const address = advertiseAddress ?? https?.address ?? ''
  const isUnspecified = address === '0.0.0.0' || address === '::'
  const chosen = isUnspecified ? interfaceAddress() : address
  return chosen === undefined || chosen === '::1' || chosen.startsWith('127.') || isIP(chosen) === 0
    ? undefined
    : chosen
}

const interfaceAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flatMap(each => each ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address

export interface EndpointKinds {
  readonly endpoints: Kind
  readonly endpointSlices: Kind
}

/** Creates both objects or changes them. Of several servers on one store, the last that started is published. */
export async function publishEndpoints(
  context: ApiContext,
  { endpoints, endpointSlices }: EndpointKinds,
  address: string,
  port: number,
): Promise<void> {
  const ports = [{ name: 'https', port, protocol: 'TCP' }]
  const metadata = (labels: ValueObject) => ({ name: 'kubernetes', namespace: 'default', labels })
  const objects = serverObjects(context)
  const publish = async (kind: Kind, labels: ValueObject, content: ValueObject): Promise<void> => {
    await objects.create(kind, { metadata: metadata(labels), ...structuredClone(content) })
    await objects.change(kind, 'default', 'kubernetes', old =>
      isSame(old, content) ? undefined : { ...old, ...content },
    )
  }
  await publish(
    endpoints,
    { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
    {
      subsets: [{ addresses: [{ ip: address }], ports }],
    },
  )
  await publish(
    endpointSlices,
    { 'kubernetes.io/service-name': 'kubernetes' },
    {
      addressType: isIP(address) === 6 ? 'IPv6' : 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports,
    },
  )
}

/** Whether the stored object already has this content. */
const isSame = (stored: ApiObject, content: ValueObject): boolean =>
  Object.entries(content).every(([name, value]) => contains(stored[name], value))

/** Whether all that `part` says is in `whole`, which may have further fields by default. */
function contains(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return Object.is(whole, part) || Number(whole) === part
  if (typeof whole !== 'object' || whole === null) return false
  if (Array.isArray(part) && (!Array.isArray(whole) || whole.length !== part.length)) return false
  return Object.entries(part).every(([name, value]) => contains((whole as Record<string, unknown>)[name], value))
}
