// A server, most often the one that a kubeconfig names: reads and writes objects as JSON. Only what commands for authors need.

import { readFileSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { dirname, join, resolve } from 'node:path'
import { homeDirectory } from '../base/files/home-directory.js'
import { UsageError } from '../base/usage-error.js'
import { decodeJson, encodeJson } from '../codec/json.js'
import { decodeYaml } from '../codec/yaml.js'
import type { Status } from '../meta/errors/status.js'
import { objectAt, objectsAt, stringAt } from '../meta/values/access.js'
import { isObject, type Value, type ValueObject } from '../meta/values/value.js'

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

interface Access {
  readonly url: URL
  readonly tls: {
    readonly ca?: Buffer | undefined
    readonly cert?: Buffer | undefined
    readonly key?: Buffer | undefined
    readonly rejectUnauthorized: boolean
  }
  readonly authorization: string | undefined
}

const PAGE = 500
const TIMEOUT_MS = 30_000

/** `path` is a kubeconfig; by default that of KUBECONFIG, or ~/.kube/config. */
export function connect(
  path: string = process.env['KUBECONFIG'] || join(homeDirectory(), '.kube', 'config'),
): LiveServer {
  const access = accessIn(path)
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
  { url, tls, authorization }: Access,
  { method, path, body, mediaType }: LiveRequest,
): Promise<LiveResponse> {
  return new Promise((resolveWith, reject) => {
    const open = url.protocol === 'http:' ? httpRequest : httpsRequest
    const headers = {
      accept: 'application/json',
      ...(authorization !== undefined && { authorization }),
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

function accessIn(path: string): Access {
  const config = readConfig(path)
  const context = named(config, 'contexts', stringAt(config, 'current-context'), 'context', path)
  const cluster = named(config, 'clusters', stringAt(context, 'cluster'), 'cluster', path)
  const user = named(config, 'users', stringAt(context, 'user'), 'user', path)
  if (isObject(user['exec']) || isObject(user['auth-provider'])) {
    throw new UsageError(
      `${path}: users by exec or auth-provider are not supported; use a token or a client certificate`,
    )
  }
  const bytesOf = (from: ValueObject, name: string): Buffer | undefined => {
    const data = stringAt(from, `${name}-data`)
    const file = stringAt(from, name)
    if (data !== '') return Buffer.from(data, 'base64')
    return file === '' ? undefined : readFileSync(resolve(dirname(path), file))
  }
  const token = stringAt(user, 'token') || bytesOf(user, 'tokenFile')?.toString().trim()
  return {
    url: new URL(stringAt(cluster, 'server')),
    tls: {
      ca: bytesOf(cluster, 'certificate-authority'),
      cert: bytesOf(user, 'client-certificate'),
      key: bytesOf(user, 'client-key'),
      rejectUnauthorized: cluster['insecure-skip-tls-verify'] !== true,
    },
    authorization: token ? `Bearer ${token}` : undefined,
  }
}

function readConfig(path: string): ValueObject {
  let value: Value
  try {
    value = decodeYaml(readFileSync(path)).value
  } catch (error) {
    throw new UsageError(`the kubeconfig ${path} cannot be read: ${(error as Error).message}`)
  }
  if (!isObject(value)) throw new UsageError(`${path} is not a kubeconfig`)
  return value
}

function named(config: ValueObject, list: string, name: string, member: string, path: string): ValueObject {
  const entry = objectsAt(config, list).find(each => stringAt(each, 'name') === name)
  if (!entry) throw new UsageError(`the kubeconfig ${path} has no ${member} ${JSON.stringify(name)}`)
  return objectAt(entry, member)
}
