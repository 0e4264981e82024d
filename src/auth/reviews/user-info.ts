// Users in the specs of reviews.

import { stringAt, stringsAt } from '../../meta/values/access.js'
import { getOwn, isObject, type ValueObject } from '../../meta/values/value.js'
import { type UserInfo } from '../../request/user-info.js'

/** The user in the spec of an access review, with exactly the groups that the spec lists. */
export function userOf(spec: ValueObject): UserInfo {
  const extra = getOwn(spec, 'extra')
  return {
    name: stringAt(spec, 'user'),
    uid: stringAt(spec, 'uid'),
    groups: stringsAt(spec, 'groups'),
    extra: isObject(extra) ? (extra as Record<string, string[]>) : {},
  }
}
