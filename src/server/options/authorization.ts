// Which authorizers decide what a user may do.

import { nearest } from '../../base/nearest.js'
import { UsageError } from '../../base/usage-error.js'
import type { FlagTable, FlagValues } from './flag.js'
import { list } from './flag-values.js'

export type AuthorizationMode = 'RBAC' | 'AlwaysAllow' | 'AlwaysDeny' | 'Node'

export interface AuthorizationOptions {
  /** A request is allowed if one of them allows it. */
  readonly modes: readonly AuthorizationMode[]
}

const MODES: readonly string[] = ['RBAC', 'AlwaysAllow', 'AlwaysDeny', 'Node'] satisfies AuthorizationMode[]
const ABSENT: Readonly<Record<string, string>> = {
  ABAC: 'policies in a file are not supported; write Roles and RoleBindings',
  Webhook: 'asking a webhook is not supported',
}

export const authorizationFlags = {
  'authorization-mode': list(
    'RBAC|AlwaysAllow|AlwaysDeny|Node',
    'who may do what; a request is allowed if one of the modes allows it. With AlwaysAllow, anonymous requests are ' +
      'refused. Node allows nothing here, because there are no nodes',
    ['RBAC'],
  ),
} satisfies FlagTable

export const authorizationFromFlags = (flags: FlagValues<typeof authorizationFlags>): AuthorizationOptions => {
  const names = flags['authorization-mode']
  return { modes: checkModes(names, `--authorization-mode=${names.join(',')}`) }
}

/** `label` names the flag or the option in the message. */
export function checkModes(names: readonly string[], label: string): AuthorizationMode[] {
  if (names.length === 0) throw new UsageError(`${label}: at least one of ${MODES.join(', ')} is needed`)
  for (const name of names) {
    if (MODES.includes(name)) continue
    if (Object.hasOwn(ABSENT, name)) throw new UsageError(`${label}: ${ABSENT[name]}`)
    const near = nearest(
      name.toLowerCase(),
      MODES.map(each => each.toLowerCase()),
    )
    const meant = MODES.find(each => each.toLowerCase() === near)
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    throw new UsageError(`${label}: ${JSON.stringify(name)} is not one of ${MODES.join(', ')}${hint}`)
  }
  return names as AuthorizationMode[]
}

export const allowsEverything = ({ modes }: AuthorizationOptions): boolean => modes.includes('AlwaysAllow')
