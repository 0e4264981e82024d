// What a caller may do, put as a question, and how a refusal is told.

import type { Awaitable } from '../../base/awaitable.js'
import { forbidden, type StatusError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import type { Deed } from '../../request/access-attributes.js'
import { type Caller } from '../../request/user-info.js'

export interface Verdict {
  readonly allowed: boolean
  /** Why, or why not where there is more to say than "nobody allows it". */
  readonly reason: string
}

export type Authorizer = (caller: Caller, deed: Deed) => Awaitable<Verdict>

export const ALLOWED: Verdict = { allowed: true, reason: '' }
export const allowAll: Authorizer = () => ALLOWED

export function refusal(caller: Caller, deed: Deed, { reason }: Verdict): StatusError {
  const why = reason === '' ? '' : `: ${reason}`
  if ('path' in deed) {
    return forbidden(
      { group: '', resource: '' },
      '',
      `User ${quote(caller.name)} cannot ${deed.verb} path ${quote(deed.path)}${why}`,
    )
  }
  const { verb, group, resource, subresource, namespace, name } = deed
  const what = quote(subresource === '' ? resource : `${resource}/${subresource}`)
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`
  return forbidden(
    { group, resource },
    name,
    `User ${quote(caller.name)} cannot ${verb} resource ${what} in API group ${quote(group)} ${where}${why}`,
  )
}
