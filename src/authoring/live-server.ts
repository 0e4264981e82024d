// A server, most often the one that a kubeconfig names: reads and writes objects as JSON. Only what commands for authors need.

import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { UsageError } from '../base/usage-error.js'
import { decodeJson, encodeJson } from '../codec/json.js'
import type { Status } from '../meta/errors/status.js'
import { objectAt, objectsAt, stringAt } from '../meta/values/access.js'
import { isObject, type ValueObject } from '../meta/values/value.js'
import { type KubeconfigAccess, readAccess } from './kubeconfig-access.js'

export interface LiveServer {
  readonly url: string
  /** Undefined if there is no such object. Throws a LiveError for any other refusal. */
  get(path: string): Promise<ValueObject | undefined>
  /** All items of a list, page by page. */
  list(path: string): Promise<readonly ValueObject[]>
  send(method: 'POST' | 'PUT' | 'PATCH', path: string, body: ValueObject, mediaType?: string): Promise<ValueObject>
}

/** The server refused a request, or cannot be reached. */
export class LiveError extends UsageError {
  constructor(
    message: string,
    readonly status?: Status | undefined,
  ) {
    super(message)
  }
}

const PAGE = 500
const TIMEOUT_MS = 30_000

/** `path` is a kubeconfig; by default that of KUBECONFIG, or ~/.kube/config. */
export function connect(path?: string): LiveServer {
  const access = readAccess(path)
  return liveServer(access.url.origin, request => exchange(access, request))
}

export interface LiveRequest {
  readonly method: string
  readonly path: string
  readonly body: Buffer | undefined
  readonly mediaType: string
}

export interface LiveResponse {
  readonly code: number
  readonly bytes: Buffer
}

/** `url` names the server in messages. */
export function liveServer(url: string, send: (request: LiveRequest) => Promise<LiveResponse>): LiveServer {
  const call = async (method: string, at: string, object?: ValueObject, mediaType = 'application/json') => {
    const body = object && Buffer.from(encodeJson(object))
    const { code, bytes } = await send({ method, path: at, body, mediaType })
    const value = parse(bytes)
    if (code < 400) return value
    const status = value as unknown as Status
    throw new LiveError(`${url} answers ${code} to ${method} ${at}: ${status.message ?? ''}`, { ...status, code })
  }
  return {
    url,
    async get(at) {
      try {
        return await call('GET', at)
      } catch (error) {
        if (error instanceof LiveError && error.status?.code === 404) return undefined
        throw error
      }
    },
    async list(at) {
      const items: ValueObject[] = []
      for (let next = ''; ; ) {
        const separator = at.includes('?') ? '&' : '?'
        const page = await call(
          'GET',
          `${at}${separator}limit=${PAGE}${next && `&continue=${encodeURIComponent(next)}`}`,
        )
        items.push(...objectsAt(page, 'items'))
        next = stringAt(objectAt(page, 'metadata'), 'continue')
        if (next === '') return items
      }
    },
    send: (method, at, body, mediaType) => call(method, at, body, mediaType),
  }
}

function parse(bytes: Buffer): ValueObject {
  try {
    const { value } = decodeJson(bytes)
    return isObject(value) ? value : {}
  } catch {
    return { message: bytes.toString('utf8', 0, 200) }
  }
}

function exchange(
  { url, tls, token }: KubeconfigAccess,
  { method, path, body, mediaType }: LiveRequest,
): Promise<LiveResponse> {
  return new Promise((resolveWith, reject) => {
    const open = url.protocol === 'http:' ? httpRequest : httpsRequest
    const headers = {
      accept: 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': mediaType, 'content-length': body.length }),
    }
    const fail = (error: Error): void => reject(new LiveError(`${url.origin} cannot be reached: ${error.message}`))
    const sent = open(
      new URL(path, url),
      { method, headers, timeout: TIMEOUT_MS, ...tls },
      (response: IncomingMessage) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => void chunks.push(chunk))
        response.on('end', () => resolveWith({ code: response.statusCode ?? 0, bytes: Buffer.concat(chunks) }))
        response.on('error', fail)
      },
    )
    sent.on('error', fail)
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} seconds`)))
    sent.end(body)
  })
}
