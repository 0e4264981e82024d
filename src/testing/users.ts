// Users of a test server, each with a token and a kubeconfig.
import { randomBytes } from 'node:crypto'
import type { Identity } from '../auth/authenticator.js'
import { refuseUnknownFields } from '../base/known-fields.js'
import { UsageError } from '../base/usage-error.js'
import type { Registry } from '../kinds/registry.js'
import { printKubeconfig } from '../server/kubeconfig.js'
import { type Client, createClient } from './client.js'
import { createFetch, type Fetch } from './fetch.js'

export interface UserOptions {
  readonly name?: string
  readonly groups?: readonly string[]
}

export interface TestUser {
  readonly name: string
  readonly token: string
  readonly kubeconfig: string
  readonly fetch: Fetch
  /** Typed requests of this user. */
  readonly client: Client
}

export interface TestUsers {
  /** A user without any permission beyond those of its groups; the groups are none by default. */
  create(options?: UserOptions): TestUser
}

/** `tokens` is what the server authenticates by; a token that is added counts at once. */
export function createTestUsers(
  tokens: Map<string, Identity>,
  access: () => { readonly url: string; readonly ca: string },
  registry: () => Promise<Registry>,
): TestUsers {
  let count = 0
  return {
    create(options = {}) {
      refuseUnknownFields('a user', options, ['name', 'groups'])
      const { name = `user-${++count}`, groups = [] } = options
      if (typeof name !== 'string' || name === '') throw new UsageError('users.create: name must be a text')
      if (!Array.isArray(groups) || !groups.every(each => typeof each === 'string')) {
        throw new UsageError('users.create: groups must be a list of names')
      }
      const token = randomBytes(24).toString('base64url')
      tokens.set(token, { name, uid: '', groups: [...groups], extra: {} })
      const { url, ca } = access()
      const fetch = createFetch({ url, ca, token })
      return {
        name,
        token,
        kubeconfig: printKubeconfig({ server: url, ...(ca !== '' && { ca }), token }),
        fetch,
        client: createClient(fetch, registry),
      }
    },
  }
}
