// The sessions of browsers, and the codes that begin one. They are kept in memory only, so a stop of the server ends them.
// A session is two secrets: the id, in a cookie that scripts cannot read, and the key, which the page sends in a header. A
// cookie is sent to every port of a host, and also with requests that other pages cause; the key is neither.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { UserInfo } from '../request/user-info.js'

/** A token is checked again for every request, so that the session ends with it. */
export type Credential = { readonly token: string } | { readonly user: UserInfo }

export interface Session {
  readonly credential: Credential
  /** The user at the sign-in. */
  readonly user: UserInfo
  /** `https://127.0.0.1:6443`: requests to another name or port are not part of the session. */
  readonly origin: string
  /** Milliseconds: the session ends then, or earlier if it is not used. */
  readonly expiresAt: number
}

export interface Sessions {
  /** A code that signs in once, within ten minutes. */
  createCode(credential: Credential): string
  /** What the code was created for; undefined if it is unknown, was used, or is too old. It cannot be used again. */
  redeemCode(code: string): Credential | undefined
  open(session: Omit<Session, 'expiresAt'>): { readonly id: string; readonly key: string; readonly session: Session }
  /** Undefined if there is none, it has ended, or the key or the origin is another one. */
  find(id: string, key: string, origin: string): Session | undefined
  close(id: string): void
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
export const CODE_MS = 10 * MINUTE
export const IDLE_MS = 12 * HOUR
export const SESSION_MS = 7 * 24 * HOUR
const MAX_CODES = 100
const MAX_CODES_OF_USER = 10
const MAX_SESSIONS = 1000
const MAX_SESSIONS_OF_USER = 20

interface OpenSession extends Session {
  readonly keyHash: Buffer
  usedAt: number
}

/** Time is that of the machine, also where the clock of a test server is moved: a browser's cookie does not follow it. */
export function createSessions(now: () => number = Date.now): Sessions {
  /** By the hash of the secret, so that a look-up does not take longer the more of it is right. Oldest first. */
  const codes = new Map<string, { readonly credential: Credential; readonly expiresAt: number }>()
  /** Least recently used first. */
  const sessions = new Map<string, OpenSession>()

  function findOpen(hash: string): OpenSession | undefined {
    const found = sessions.get(hash)
    if (!found) return undefined
    if (now() < found.expiresAt && now() < found.usedAt + IDLE_MS) return found
    sessions.delete(hash)
    return undefined
  }

  /** A user who signs in again and again ends sessions of their own, not those of others. */
  function makeRoom(user: UserInfo): void {
    const own: string[] = []
    for (const [hash, session] of sessions) if (session.user.name === user.name) own.push(hash)
    if (own.length >= MAX_SESSIONS_OF_USER) sessions.delete(own[0]!)
    dropOldest(sessions, MAX_SESSIONS - 1)
  }

  return {
    createCode(credential) {
      // As for sessions: codes of one user do not end those of others.
      const owner = ownerOf(credential)
      const own = [...codes].filter(([, code]) => ownerOf(code.credential) === owner)
      if (own.length >= MAX_CODES_OF_USER) codes.delete(own[0]![0])
      dropOldest(codes, MAX_CODES - 1)
      const code = newSecret()
      codes.set(hashOf(code), { credential, expiresAt: now() + CODE_MS })
      return code
    },
    redeemCode(code) {
      const hash = hashOf(code)
      const found = codes.get(hash)
      codes.delete(hash)
      return found && now() < found.expiresAt ? found.credential : undefined
    },
    open(given) {
      makeRoom(given.user)
      const [id, key] = [newSecret(), newSecret()]
      const session = { ...given, expiresAt: now() + SESSION_MS, keyHash: digest(key), usedAt: now() }
      sessions.set(hashOf(id), session)
      return { id, key, session }
    },
    find(id, key, origin) {
      const hash = hashOf(id)
      const found = findOpen(hash)
      if (!found || found.origin !== origin || !timingSafeEqual(found.keyHash, digest(key))) return undefined
      found.usedAt = now()
      sessions.delete(hash)
      sessions.set(hash, found)
      return found
    },
    close: id => void sessions.delete(hashOf(id)),
  }
}

const newSecret = (): string => randomBytes(32).toString('base64url')
const digest = (secret: string): Buffer => createHash('sha256').update(secret).digest()
const hashOf = (secret: string): string => digest(secret).toString('base64')

const ownerOf = (credential: Credential): string =>
  'user' in credential ? `user ${credential.user.name}` : `token ${credential.token}`

function dropOldest(map: Map<string, unknown>, limit: number): void {
  for (const key of map.keys()) {
    if (map.size <= limit) return
    map.delete(key)
  }
}
