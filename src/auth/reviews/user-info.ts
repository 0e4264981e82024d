// Users in the specs and statuses of reviews.

import { stringAt, stringsAt } from '../../meta/values/access.js'
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'
import { type UserInfo } from '../../request/user-info.js'
import type { Identity } from '../authn/authenticate.js'

/** Empty fields are left out. */
export function userInfo({ name, uid, groups, extra }: Identity): ValueObject {
  return {
    ...(name !== '' && { username: name }),
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(Object.keys(extra).length > 0 && { extra: extra as unknown as Value }),
  }
}

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
