// The server that calls, behind the Service `kubernetes` of the namespace `default`. It is called at its own address, by a
// token of its own, and proves itself with the certificate that it is known to have.
import type { Destination, ServiceReference } from './client-config.js'
import type { Endpoint } from './host-overrides.js'

export interface OwnServer {
  readonly address: Endpoint
  readonly protocol: Destination['protocol']
  /** PEM; undefined for plain http. */
  readonly certificate: string | undefined
  /** Which names the user of the call. */
  readonly token: string
}

export const isOwnService = ({ namespace, name, port = 443 }: ServiceReference): boolean =>
  namespace === 'default' && name === 'kubernetes' && port === 443

/** A call of a webhook behind the own Service, as one that goes to this server. */
export const throughOwnServer = (destination: Destination, own: OwnServer): Destination => ({
  ...destination,
  own: own.address,
  protocol: own.protocol,
  ca: own.certificate && `${own.certificate}\n${destination.ca ?? ''}`,
  credentials: { headers: { authorization: `Bearer ${own.token}` } },
})
