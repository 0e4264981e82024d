// Who is signed in. A link with a code signs in once; a token can be pasted.
import { signal } from '@preact/signals'
import { dropKey, getJson, request, storeKey } from './client.js'

export interface User {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface Session {
  readonly user: User
  readonly expiresAt?: string
  /** The server was started for tests: it has faults and a clock. */
  readonly testing?: boolean
  readonly version?: string
  readonly binnacle?: string
}

/** Undefined until it is known; null when no one is signed in. */
export const session = signal<Session | null | undefined>(undefined)

const PATH = '/console/api/session'

export async function readSession(): Promise<void> {
  try {
    session.value = await getJson<Session>(PATH)
  } catch {
    session.value = null
  }
}

export async function signIn(credentials: { code: string } | { token: string }): Promise<void> {
  const { key } = await getJson<{ key: string }>(PATH, { method: 'POST', body: credentials })
  storeKey(key)
  await readSession()
}

export async function signOut(): Promise<void> {
  await request(PATH, { method: 'DELETE' }).catch(() => undefined)
  dropKey()
  session.value = null
}

/** Takes the code out of the address, where it must not stay: it would be in the history and in copied links. */
export function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? undefined
  if (code !== undefined) history.replaceState(history.state, '', location.pathname + location.search)
  return code
}
