// All requests of the console go through here. They carry the key of the session, as the server requires of a page, so
// that another site cannot use the session's cookie.
import { signal } from '@preact/signals'

const KEY = 'binnacle.console.key'

export interface Status {
  readonly kind: 'Status'
  readonly code?: number
  readonly reason?: string
  readonly message?: string
  readonly details?: {
    readonly name?: string
    readonly kind?: string
    readonly retryAfterSeconds?: number
    readonly causes?: readonly StatusCause[]
  }
}

export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

/** A request that the server refused, or that did not reach it (code 0). */
export class ApiError extends Error {
  constructor(readonly status: Status) {
    super(status.message ?? status.reason ?? `the server answered ${status.code ?? 0}`)
    this.name = 'ApiError'
  }

  get code(): number {
    return this.status.code ?? 0
  }

  get reason(): string {
    return this.status.reason ?? ''
  }

  get causes(): readonly StatusCause[] {
    return this.status.details?.causes ?? []
  }
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** A value is sent as JSON, a string as it is. */
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  readonly signal?: AbortSignal | undefined
  /** The user did not ask for this kind by itself: warnings about it, as that it is deprecated, say nothing to them. */
  readonly isSearch?: boolean
}

/** Counts the times that the server refused the session: the sign-in view is shown when it changes. */
export const refusals = signal(0)
/** Warnings that the server sent with a response, newest last. */
export const onWarning = signal<(text: string) => void>(() => {})

export const storedKey = (): string | null => localStorage.getItem(KEY)
export const storeKey = (key: string): void => localStorage.setItem(KEY, key)
export const dropKey = (): void => localStorage.removeItem(KEY)

/** Sends a request. Every answer that is not a success is thrown as an ApiError. */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = 'GET', body, accept = 'application/json', signal: until, isSearch = false } = options
  const { contentType = 'application/json' } = options
  const headers: Record<string, string> = { Accept: accept }
  const key = storedKey()
  if (key !== null) headers['X-Binnacle-Console'] = key
  if (body !== undefined) headers['Content-Type'] = contentType
  const init: RequestInit = { method, headers, credentials: 'same-origin', cache: 'no-store' }
  if (body !== undefined) init.body = typeof body === 'string' ? body : JSON.stringify(body)
  if (until !== undefined) init.signal = until
  const response = await fetch(path, init).catch((error: unknown) => {
    if (until?.aborted === true) throw error
    throw new ApiError({ kind: 'Status', code: 0, reason: 'Unreachable', message: 'The server does not answer.' })
  })
  if (!isSearch) reportWarnings(response)
  if (response.ok) return response
  const error = await readError(response)
  // The answer to a request of an earlier session says nothing about the present one.
  if (response.status === 401 && !path.startsWith('/console/api/session') && storedKey() === key) {
    dropKey()
    refusals.value++
  }
  throw error
}

export async function getJson<T>(path: string, options?: RequestOptions): Promise<T> {
  const response = await request(path, options)
  return (await response.json()) as T
}

export async function getText(path: string, options?: RequestOptions): Promise<string> {
  const response = await request(path, options)
  return response.text()
}

/** `{a: '1', b: ''}` as `?a=1`; empty values are left out. */
export function query(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const entries = Object.entries(parameters).filter(
    ([, value]) => value !== undefined && value !== '' && value !== false,
  )
  if (entries.length === 0) return ''
  return `?${new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString()}`
}

/** What to say of an error, whatever it is. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

async function readError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '')
  try {
    const status = await readStatus(text, response.headers.get('content-type') ?? '')
    if (status.kind === 'Status') return new ApiError({ ...status, code: status.code ?? response.status })
  } catch {
    // No Status: the text itself is the message.
  }
  return new ApiError({
    kind: 'Status',
    code: response.status,
    message: text.trim().slice(0, 500) || response.statusText,
  })
}

/** An error has the format that was asked for. The code that reads YAML is loaded when it is needed. */
async function readStatus(text: string, type: string): Promise<Status> {
  if (!type.includes('yaml')) return JSON.parse(text) as Status
  const { readYaml } = await import('../yaml/yaml-document.js')
  return readYaml(text).value as unknown as Status
}

function reportWarnings(response: Response): void {
  const header = response.headers.get('warning')
  if (header === null) return
  for (const match of header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)) {
    onWarning.peek()(match[1]!.replaceAll(/\\(.)/g, '$1'))
  }
}
