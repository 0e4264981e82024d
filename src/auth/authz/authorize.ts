// What a caller may do, put as a question, and how a refusal is told.

import type { Awaitable } from '../../base/awaitable.js'
import { forbidden, type StatusError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import type { AccessAttributes } from '../../request/access-attributes.js'
import { type UserInfo } from '../../request/user-info.js'

export interface Decision {
  readonly allowed: boolean
  /** Why, or why not where there is more to say than "nobody allows it". */
  readonly reason: string
}

export type Authorize = (user: UserInfo, attributes: AccessAttributes) => Awaitable<Decision>

export const ALLOWED: Decision = { allowed: true, reason: '' }
export const allowAll: Authorize = () => ALLOWED

export function refusal(user: UserInfo, attributes: AccessAttributes, { reason }: Decision): StatusError {
  const why = reason === '' ? '' : `: ${reason}`
  if ('path' in attributes) {
    return forbidden(
      { group: '', resource: '' },
      '',
      `User ${quote(user.name)} cannot ${attributes.verb} path ${quote(attributes.path)}${why}`,
    )
  }
  const { verb, group, resource, subresource, namespace, name } = attributes
  const what = quote(subresource === '' ? resource : `${resource}/${subresource}`)
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`
  return forbidden(
    { group, resource },
    name,
    `User ${quote(user.name)} cannot ${verb} resource ${what} in API group ${quote(group)} ${where}${why}`,
  )
}
