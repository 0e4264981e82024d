// Service accounts as users: their names and their groups.
import { checkDnsLabel, checkDnsSubdomain } from '../../meta/object/names.js'

const PREFIX = 'system:serviceaccount:'

export const accountUser = (namespace: string, name: string): string => `${PREFIX}${namespace}:${name}`

export const accountGroups = (namespace: string): string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
]

/** The account of a user name; undefined for other users. */
export function parseAccountUser(user: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!user.startsWith(PREFIX)) return undefined
  const [namespace = '', name = '', ...rest] = user.slice(PREFIX.length).split(':')
  const isOne = rest.length === 0 && checkDnsLabel(namespace).length === 0 && checkDnsSubdomain(name).length === 0
  return isOne ? { namespace, name } : undefined
}
