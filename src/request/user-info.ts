// The user that a request runs as.
import type { ValueObject } from '../meta/values/value.js'

export interface UserInfo {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** As reviews and audit events show a user: without empty fields. */
export function printUserInfo({ name, uid, groups, extra }: UserInfo): ValueObject {
  const printed: ValueObject = {}
  if (name !== '') printed['username'] = name
  if (uid !== '') printed['uid'] = uid
  if (groups.length > 0) printed['groups'] = [...groups]
  const entries = Object.entries(extra)
  if (entries.length > 0) printed['extra'] = Object.fromEntries(entries.map(([key, values]) => [key, [...values]]))
  return printed
}
