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
  const entries = Object.entries(extra).map(([key, values]): [string, string[]] => [key, [...values]])
  return {
    ...(name !== '' && { username: name }),
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(entries.length > 0 && { extra: Object.fromEntries(entries) }),
  }
}
