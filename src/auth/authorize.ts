// What a caller may do, put as a question, and how a refusal is told.

import type { Awaitable } from '../meta/awaitable.js'
import { quote } from '../meta/go-text.js'
import { forbidden, type StatusError } from '../meta/status.js'
import type { Caller } from '../resources/resource-context.js'

/** What is to be done, to what. */
export type Deed =
  | {
      readonly verb: string
      readonly group: string
      readonly resource: string
      /** Empty for the resource itself. */
      readonly subresource: string
      /** Empty at the cluster scope. */
      readonly namespace: string
      readonly name: string
    }
  | { readonly verb: string; readonly path: string }

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
