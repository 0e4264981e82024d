// GET requests to an issuer: its discovery document, its keys, and claims that it keeps elsewhere.
import type { IncomingHttpHeaders } from 'node:http'
import { Agent, get, type RequestOptions } from 'node:https'
import { type Dial, securedBy } from '../../base/dial.js'

export interface IssuerResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Rejects with an Error if there is no whole response. */
export type IssuerGet = (url: string, token?: string) => Promise<IssuerResponse>

const TIMEOUT_MS = 30_000
const MAX_BYTES = 4 * 2 ** 20
const MAX_REDIRECTS = 10

export interface IssuerAccess {
  /** PEM: the authorities of the issuer's certificate. */
  readonly ca: string | undefined
  /** How connections are opened; directly by default. */
  readonly dial?: Dial | undefined
  /** Ends requests when it is aborted. */
  readonly signal: AbortSignal
}

export function issuerGet({ ca, dial, signal }: IssuerAccess): IssuerGet {
  const agent = dial ? Object.assign(new Agent(), { createConnection: securedBy(dial) }) : false
  return async (first, token) => {
    let url = first
    let bearer = token
    for (let redirects = 0; ; redirects++) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])
      const response = await getOnce(url, { ca, agent, signal: limit }, bearer)
      const { location } = response.headers
      if (location === undefined || ![301, 302, 303, 307, 308].includes(response.status)) return response
      if (redirects === MAX_REDIRECTS) throw new Error(`Get ${JSON.stringify(first)}: stopped after 10 redirects`)
      const next = new URL(location, url)
      if (next.protocol !== 'https:') throw new Error(`${first} redirects to ${next.href}, which is not https`)
      // The token is for the host that it was given for.
      if (next.host !== new URL(url).host) bearer = undefined
      url = next.href
    }
  }
}

function getOnce(
  url: string,
  { ca, agent, signal }: Pick<IssuerAccess, 'ca' | 'signal'> & { readonly agent: Agent | false },
  token: string | undefined,
): Promise<IssuerResponse> {
  const options: RequestOptions & { allowPartialTrustChain: boolean } = {
    signal,
    agent,
    headers: { accept: '*/*', 'user-agent': 'binnacle', ...(token && { authorization: `Bearer ${token}` }) },
    ...(ca !== undefined && { ca }),
    // A server's own certificate among the authorities is trusted without its issuer, as by Go.
    allowPartialTrustChain: true,
  }
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(new Error(`Get ${JSON.stringify(url)}: ${error.message}`))
    get(url, options, response => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('error', fail)
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        chunks.push(chunk)
        if (size > MAX_BYTES) response.destroy(new Error(`the response has more than ${MAX_BYTES} bytes`))
      })
      response.on('end', () => {
        const { statusCode = 0, statusMessage = '', headers } = response
        resolve({ status: statusCode, statusText: statusMessage, headers, body: Buffer.concat(chunks) })
      })
    }).on('error', fail)
  })
}
