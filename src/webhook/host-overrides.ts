// Addresses for host names that only a cluster's DNS resolves, such as `converter.default.svc`.
import { isIP } from 'node:net'

export interface Address {
  readonly host: string
  /** The port of the call by default. */
  readonly port?: number | undefined
}

/** An address with its port. */
export interface Endpoint extends Address {
  readonly port: number
}

export type HostOverrides = ReadonlyMap<string, Address>

/** Parses `converter.default.svc=127.0.0.1:9443`; undefined if it is malformed. */
export function parseHostOverride(text: string): readonly [string, Address] | undefined {
  const at = text.indexOf('=')
  const host = text.slice(0, Math.max(at, 0)).toLowerCase()
  const address = parseAddress(text.slice(at + 1))
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(host) && address ? [host, address] : undefined
}

function parseAddress(text: string): Address | undefined {
  if (isIP(text) !== 0) return { host: text }
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::([0-9]{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host === undefined || (bracketed !== undefined && isIP(bracketed) !== 6)) return undefined
  if (bracketed === undefined && !/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(host)) return undefined
  if (port === undefined) return { host }
  const number = Number(port)
  return number >= 1 && number <= 65_535 ? { host, port: number } : undefined
}
