// HTTPS requests to a server, each on a separate keep-alive connection unless an agent is given.
import { once } from 'node:events'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'

export interface ServerAccess {
  readonly url: string
  readonly ca: string
}

export interface SendOptions {
  readonly method?: string
  readonly token?: string | undefined
  /** A client certificate, instead of a token. */
  readonly client?: { readonly cert: string; readonly key: string }
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Whose connections are used again: a handshake costs more than most requests. */
  readonly agent?: Agent
}

export interface Response {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- any response of the server
  readonly body: any
}

export async function sendRequest(server: ServerAccess, path: string, options: SendOptions = {}): Promise<Response> {
  const outgoing = begin(server, path, options)
  outgoing.end(options.body === undefined ? undefined : JSON.stringify(options.body))
  return responseTo(outgoing)
}

/** A request without its body, which may be sent later. */
export function begin(
  { url, ca }: ServerAccess,
  path: string,
  { method = 'GET', token, client, agent = new Agent({ keepAlive: true, maxFreeSockets: 1 }), ...more }: SendOptions,
): ClientRequest {
  const headers = {
    ...(token && { authorization: `Bearer ${token}` }),
    'content-type': 'application/json',
    ...more.headers,
  }
  const options: RequestOptions = {
    method,
    headers,
    ca,
    ...client,
    agent,
  }
  return request(new URL(path, url), options)
}

export async function responseTo(outgoing: ClientRequest): Promise<Response> {
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  const { statusCode = 0, headers } = response
  return { status: statusCode, headers, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
}

/** A watch whose response has begun; `ended` resolves when the server ends it and rejects when it breaks. */
export async function beginWatch(
  server: ServerAccess,
  path: string,
  token: string,
): Promise<{ ended: Promise<unknown> }> {
  const outgoing = begin(server, path, { token })
  outgoing.end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  response.resume()
  return { ended: once(response, 'end') }
}
