// Requests to a server over https, each on a connection of its own that the client would keep.
import { once } from 'node:events'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'

export interface Requested {
  readonly url: string
  readonly ca: string
}

export interface Question {
  readonly method?: string
  readonly token?: string | undefined
  /** A client certificate, in the place of a token. */
  readonly client?: { readonly cert: string; readonly key: string }
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever the server says
  readonly body: any
}

export async function ask(server: Requested, path: string, question: Question = {}): Promise<Answered> {
  const asking = begin(server, path, question)
  asking.end(question.body === undefined ? undefined : JSON.stringify(question.body))
  return answerTo(asking)
}

/** A request whose body, if it has one, is still to be sent. */
export function begin(
  { url, ca }: Requested,
  path: string,
  { method = 'GET', token, client, ...question }: Question,
): ClientRequest {
  const headers = {
    ...(token && { authorization: `Bearer ${token}` }),
    'content-type': 'application/json',
    ...question.headers,
  }
  const options: RequestOptions = {
    method,
    headers,
    ca,
    ...client,
    agent: new Agent({ keepAlive: true, maxFreeSockets: 1 }),
  }
  return request(new URL(path, url), options)
}

export async function answerTo(asking: ClientRequest): Promise<Answered> {
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  const { statusCode = 0, headers } = response
  return { status: statusCode, headers, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
}

/** A watch: its answer has begun, `ended` settles when the server ends it and rejects when it breaks off. */
export async function beginWatch(server: Requested, path: string, token: string): Promise<{ ended: Promise<unknown> }> {
  const asking = begin(server, path, { token })
  asking.end()
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  response.resume()
  return { ended: once(response, 'end') }
}
