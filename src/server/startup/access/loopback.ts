// Calls of this server to itself: webhooks behind the Service `kubernetes` of the namespace `default`, such as those of an
// extension server, are called through this server, as the user system:apiserver.
import { randomBytes, randomUUID } from 'node:crypto'
import { staticTokens, type TokenAuthenticator } from '../../../auth/authenticator.js'
import type { OwnServer } from '../../../webhook/own-server.js'

export interface Loopback {
  tokens(audiences: readonly string[]): TokenAuthenticator
  /** Undefined until this server listens. */
  ownServer(): OwnServer | undefined
  /** `certificate`: with which the server proves to clients that name no host of it; undefined for plain http. */
  listensAt(url: string, certificate: string | Buffer | undefined): void
}

export function createLoopback(): Loopback {
  const token = randomBytes(32).toString('base64url')
  const user = { name: 'system:apiserver', uid: randomUUID(), groups: ['system:masters'], extra: {} }
  let own: OwnServer | undefined
  return {
    tokens: audiences => staticTokens(new Map([[token, user]]), audiences),
    ownServer: () => own,
    listensAt(url, certificate) {
      const { hostname, port, protocol } = new URL(url)
      const address = { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
      const isSecure = protocol === 'https:'
      own = { address, token, protocol: isSecure ? 'https:' : 'http:', certificate: certificate?.toString() }
    },
  }
}
