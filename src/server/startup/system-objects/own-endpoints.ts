// The address under which clients reach this server, in the Endpoints of the service `kubernetes`.
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
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
