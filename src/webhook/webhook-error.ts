// Errors of webhook calls, with the messages that kube-apiserver gives, which are Go's.

import { isIP } from 'node:net'
import { quote } from '../meta/go/go-text.js'
import type { Destination } from './client-config.js'
import type { Address } from './host-overrides.js'

/** A webhook could not be called, or its response was an error. */
export class WebhookError extends Error {
  constructor(
    message: string,
    /** The code of the response; 503 if there is none. */
    readonly code = 503,
  ) {
    super(message)
  }
}

export const asWebhookError = (error: unknown, destination: Destination, address: Address | undefined): WebhookError =>
  new WebhookError(`Post ${quote(destination.url)}: ${networkReason(error, destination, address)}`)

export const timedOut = (): Error => new Error('context deadline exceeded')

/** Why a connection failed, in the words of Go. `address`: where it went, if not to the host itself. */
export function networkReason(
  error: unknown,
  { host, port }: Pick<Destination, 'host' | 'port'>,
  address?: Address,
): string {
  const { code = '', message = '' } = error as { readonly code?: string; readonly message?: string }
  const where = hostPort(dialled(error) ?? address?.host ?? host, address?.port ?? port)
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${where}: connect: connection refused`
    case 'EHOSTUNREACH':
      return `dial tcp ${where}: connect: no route to host`
    case 'ETIMEDOUT':
      return `dial tcp ${where}: i/o timeout`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${address?.host ?? host}: no such host`
    case 'ECONNRESET':
      return 'EOF'
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `tls: failed to verify certificate: x509: ${message}`
    default:
      return UNTRUSTED.has(code)
        ? 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
        : message || code || String(error)
  }
}

/** The address that a host name stands for. Of several that were tried, Go reports the first of IPv4. */
function dialled(error: unknown): string | undefined {
  const { address, errors = [] } = error as { readonly address?: string; readonly errors?: readonly unknown[] }
  if (address !== undefined) return address
  const tried = errors.flatMap(each => dialled(each) ?? [])
  return tried.find(each => isIP(each) === 4) ?? tried[0]
}

const hostPort = (host: string, port: number): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])
