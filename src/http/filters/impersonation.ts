// Impersonation: a request with Impersonate-* headers runs as the user that they name, if its own user is allowed to.

import type { Impersonate } from '../../auth/impersonation.js'
import type { Awaitable } from '../../base/awaitable.js'
import type { AccessAttributes } from '../../request/access-attributes.js'
import type { Exchange } from '../wire/exchange.js'
import type { IncomingRequest } from '../wire/incoming-request.js'

export function impersonateUser(
  request: IncomingRequest,
  attributes: AccessAttributes,
  impersonate: Impersonate | undefined,
): Awaitable<void> {
  const headers = impersonate && impersonationHeaders(request.exchange)
  if (!headers) return
  const { user: sender } = request
  return impersonate(sender, headers, attributes).then(impersonated => {
    if (!impersonated) return
    request.user = impersonated.user
    request.impersonator = sender
    request.impersonationConstraint = impersonated.constraint
  })
}

const PREFIX = 'impersonate-'

/** By lower-case name, each value by itself; undefined if there are none, as in nearly all requests. */
export function impersonationHeaders({ rawHeaders }: Exchange): ReadonlyMap<string, string[]> | undefined {
  let values: Map<string, string[]> | undefined
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (!name.startsWith(PREFIX)) continue
    values ??= new Map()
    const value = Buffer.from(rawHeaders[i + 1]!, 'latin1').toString('utf8')
    const known = values.get(name)
    if (known) known.push(value)
    else values.set(name, [value])
  }
  return values
}
