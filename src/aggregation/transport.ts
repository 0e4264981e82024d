// Connections to extension servers: where a Service is reached, by which certificate the server is trusted, and with which
// one this server proves to be the proxy that may name users.
import type { ClientRequest, OutgoingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:https'
import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import type { Awaitable } from '../base/awaitable.js'
import { type Dial, securedBy } from '../base/dial.js'
import type { ValueObject } from '../meta/values/value.js'
import type { UserInfo } from '../request/user-info.js'
import type { FindService } from '../webhook/client.js'
import { hostOfService } from '../webhook/client-config.js'
import type { Endpoint, HostOverrides } from '../webhook/host-overrides.js'
import { networkReason } from '../webhook/webhook-error.js'
import type { RemoteService } from './remote-services.js'

export interface TransportOptions {
  /** Finds the address of a Service. Rejects with an Error that says what is missing. */
  readonly findService: FindService
  /** Addresses for host names of Services, used instead of their endpoints. */
  readonly hosts: HostOverrides
  /** How connections are opened; directly by default. */
  readonly dial?: Dial | undefined
  /** Whether users are named with their uid; they are when absent. */
  readonly namesUids?: boolean | undefined
  /** The client certificate and its key, in PEM form. Called before the first request. */
  readonly clientCertificate: () => Awaitable<{ readonly cert: string; readonly key: string } | undefined>
}

export interface Transport {
  /** Whether an address was given for its host name, so that the Service need not exist. */
  hasOverride(service: RemoteService): boolean
  /** Where requests are sent. Rejects with an Error if the Service cannot be reached. */
  resolve(service: RemoteService): Promise<Endpoint>
  /** Begins a request. The caller ends it, and listens for its response and its errors. */
  request(service: RemoteService, address: Endpoint, options: CallOptions): ClientRequest
  /** Gets a whole response. */
  get(service: RemoteService, path: string, options: GetOptions): Promise<RemoteResponse>
  readonly namesUids: boolean
  close(): void
}

export interface CallOptions {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: OutgoingHttpHeaders
  /** The connection will speak another protocol, so it is not shared with other requests. */
  readonly isUpgrade?: boolean | undefined
}

export interface GetOptions {
  readonly user: Pick<UserInfo, 'name' | 'groups'>
  readonly headers?: OutgoingHttpHeaders
  /** GET by default. */
  readonly method?: 'GET' | 'DELETE'
  readonly timeoutMs: number
}

export interface RemoteResponse {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Buffer
}

/** Connections that are not used are closed sooner than a server of Kubernetes closes them, which is after 90 s. */
const AGENT = { keepAlive: true, maxFreeSockets: 32, timeout: 60_000 }
/** Documents of extension servers may be as large as this. */
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024

export function createTransport(options: TransportOptions): Transport {
  const { findService, hosts, dial, clientCertificate, namesUids = true } = options
  const opening = dial === undefined ? {} : { createConnection: securedBy(dial) }
  const agent = Object.assign(new Agent(AGENT), opening)
  const running = new Set<ClientRequest>()
  let identity: { readonly cert?: string; readonly key?: string } | undefined

  async function resolve({ service }: RemoteService): Promise<Endpoint> {
    identity ??= (await clientCertificate()) ?? {}
    const override = hosts.get(hostOfService(service))
    return override ? { host: override.host, port: override.port ?? service.port } : findService(service)
  }

  function send(
    { service, ca, insecure }: RemoteService,
    { host, port }: Endpoint,
    { method, path, headers, isUpgrade = false }: CallOptions,
  ): ClientRequest {
    const servername = hostOfService(service)
    const outgoing = request({
      method,
      host,
      port,
      path,
      headers: { host: hostPort({ host, port }), ...headers },
      servername,
      rejectUnauthorized: !insecure,
      checkServerIdentity: (_, certificate) => checkServerIdentity(servername, certificate),
      ...(ca !== undefined && { ca }),
      ...identity,
      // A server's own certificate in the bundle is trusted without its issuer, as by Go.
      allowPartialTrustChain: true,
      ...(isUpgrade ? { agent: false, ...opening } : { agent }),
    })
    running.add(outgoing)
    outgoing.once('close', () => running.delete(outgoing))
    return outgoing
  }

  return {
    hasOverride: ({ service }) => hosts.has(hostOfService(service)),
    resolve,
    request: send,
    async get(service, path, { user, headers = {}, method = 'GET', timeoutMs }) {
      const address = await resolve(service)
      const outgoing = send(service, address, {
        method,
        path,
        headers: { ...headers, ...userHeaders(user, namesUids) },
      })
      const timer = setTimeout(() => outgoing.destroy(new Error(TIMED_OUT)), timeoutMs)
      try {
        return await wholeResponse(outgoing)
      } catch (error) {
        throw new Error(networkReason(error, address), { cause: error })
      } finally {
        clearTimeout(timer)
      }
    },
    namesUids,
    close() {
      for (const outgoing of running) outgoing.destroy()
      agent.destroy()
    },
  }
}

const TIMED_OUT = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'

const wholeResponse = (outgoing: ClientRequest): Promise<RemoteResponse> =>
  new Promise((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.on('response', response => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > MAX_DOCUMENT_BYTES) outgoing.destroy(new Error(`the response is over ${MAX_DOCUMENT_BYTES} bytes`))
        else chunks.push(chunk)
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks, size) }),
      )
      response.on('error', reject)
      response.on('close', () => reject(new Error('unexpected EOF')))
    })
    outgoing.end()
  })

/** The body as an object; throws if it is none. */
export const jsonOf = ({ body }: RemoteResponse): ValueObject => {
  const value: unknown = JSON.parse(body.toString())
  if (typeof value !== 'object' || value === null) throw new Error('the document is no object')
  return value as ValueObject
}

export const hostPort = ({ host, port }: Endpoint): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`

// ---- the user

/** The headers by which an extension server knows the user of a request. */
export function userHeaders(
  user: Pick<UserInfo, 'name' | 'groups'> & Partial<UserInfo>,
  hasUid: boolean,
): OutgoingHttpHeaders {
  const { name, uid = '', groups, extra = {} } = user
  const headers: OutgoingHttpHeaders = { 'X-Remote-User': utf8(name) }
  if (hasUid && uid !== '') headers['X-Remote-Uid'] = utf8(uid)
  if (groups.length > 0) headers['X-Remote-Group'] = groups.map(utf8)
  for (const [key, values] of Object.entries(extra)) {
    if (values.length > 0) headers[`X-Remote-Extra-${escapeKey(key)}`] = values.map(utf8)
  }
  return headers
}

/** Node writes a header byte by byte. */
const utf8 = (text: string): string => Buffer.from(text.replace(/[\r\n\0]/g, ' ')).toString('latin1')

/** Bytes that a header name cannot have are percent-encoded, and so is the percent sign itself. */
const escapeKey = (key: string): string =>
  [...Buffer.from(key)]
    .map(byte => {
      const character = String.fromCharCode(byte)
      return TOKEN.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')

const TOKEN = /[!#$&'*+\-.^_`|~0-9A-Za-z]/
