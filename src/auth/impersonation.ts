// Requests in somebody else's name. There are several ways to be allowed that: the older one takes nothing but the
// verb `impersonate`; the others are each for one sort of user, and also ask whether the caller may do what the request
// does in the name of such a user (`impersonate-on:user-info:list`). The first way that is open counts.

import { badRequest, StatusError } from '../meta/errors/status.js'
import { compareTexts, printStrings, quote } from '../meta/go/go-text.js'
import { checkDnsSubdomain } from '../meta/object/names.js'
import { type AccessAttributes } from '../request/access-attributes.js'
import { type UserInfo } from '../request/user-info.js'
import { accountGroups, parseAccountUser } from './authn/service-accounts.js'
import { AUTHENTICATED, MASTERS, UNAUTHENTICATED } from './authn/system-groups.js'
import { type Authorize, refusal } from './authz/authorizer.js'

/** Who the caller becomes; the caller if the headers, by lower-case names, ask for nobody. */
export type Impersonate = (
  user: UserInfo,
  headers: ReadonlyMap<string, readonly string[]>,
  attributes: AccessAttributes,
) => Promise<UserInfo>

/** Of how many callers it is remembered which way was open to them. */
const REMEMBERED = 1_024

export function createImpersonation(authorize: Authorize): Impersonate {
  // The way that was open last is tried first; so what is told of a refusal is about that one.
  const lastModes = new Map<string, ImpersonationMode>()
  return async (user, headers, attributes) => {
    const impersonated = readHeaders(headers)
    if (!impersonated) return user
    const id = JSON.stringify([user.name, user.uid, user.groups])
    const last = lastModes.get(id)
    let refused: StatusError | undefined
    for (const mode of last ? [last, ...MODES.filter(each => each !== last)] : MODES) {
      if (!mode.isFor(impersonated, user)) continue
      try {
        const identity = await tryMode(authorize, mode, user, impersonated, attributes)
        if (lastModes.size >= REMEMBERED) lastModes.clear()
        lastModes.set(id, mode)
        return identity
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        refused ??= error
      }
    }
    throw refused!
  }
}

/** As the headers have it, before anything is added. */
interface ImpersonationHeaders {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

const EXTRA = 'impersonate-extra-'

function readHeaders(headers: ReadonlyMap<string, readonly string[]>): ImpersonationHeaders | undefined {
  const name = headers.get('impersonate-user')?.[0] ?? ''
  const uid = headers.get('impersonate-uid')?.[0] ?? ''
  const groups = headers.get('impersonate-group') ?? []
  const extra: Record<string, readonly string[]> = {}
  for (const [header, values] of headers) {
    if (!header.startsWith(EXTRA)) continue
    const key = unescapeKey(header.slice(EXTRA.length))
    extra[key] = [...(extra[key] ?? []), ...values]
  }
  const impersonated = { name, uid, groups, extra }
  if (name !== '') return impersonated
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined
  throw badRequest(`requested ${printImpersonated(impersonated)} without impersonating a user name`)
}

function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

function printImpersonated({ name, uid, groups, extra }: ImpersonationHeaders): string {
  const printedGroups = groups.length === 0 ? '[]string(nil)' : printStrings(groups)
  const keys = Object.keys(extra).toSorted(compareTexts)
  const pairs = keys.map(key => `${quote(key)}:${printStrings(extra[key]!)}`)
  const printedExtra = pairs.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${pairs.join(', ')}}`
  return `&user.DefaultInfo{Name:${quote(name)}, UID:${quote(uid)}, Groups:${printedGroups}, Extra:${printedExtra}}`
}

// ---- the ways

interface ImpersonationMode {
  /** Empty for the older way. */
  readonly mode: string
  isFor(impersonated: ImpersonationHeaders, user: UserInfo): boolean
}

const MODES: readonly ImpersonationMode[] = [
  {
    mode: 'associated-node',
    isFor: (impersonated, user) =>
      isNameOnly(impersonated) &&
      parseAccountUser(user.name) !== undefined &&
      nodeOf(impersonated.name) === ownNode(user),
  },
  {
    mode: 'arbitrary-node',
    isFor: impersonated => isNameOnly(impersonated) && nodeOf(impersonated.name) !== undefined,
  },
  {
    mode: 'serviceaccount',
    isFor: impersonated => isNameOnly(impersonated) && parseAccountUser(impersonated.name) !== undefined,
  },
  {
    mode: 'user-info',
    isFor: ({ name }) => nodeOf(name) === undefined && parseAccountUser(name) === undefined,
  },
  { mode: '', isFor: () => true },
]

const isNameOnly = ({ uid, groups, extra }: ImpersonationHeaders): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0

const NODE = 'system:node:'

function nodeOf(user: string): string | undefined {
  const name = user.startsWith(NODE) ? user.slice(NODE.length) : ''
  return name !== '' && checkDnsSubdomain(name).length === 0 ? name : undefined
}

/** The node that the bearer of a service account's token runs on; none is no node's name. */
function ownNode({ extra }: UserInfo): string {
  const names = extra['authentication.kubernetes.io/node-name'] ?? []
  return names.length === 1 ? names[0]! : ''
}

/** Throws the refusal of the first question that is answered no. */
async function tryMode(
  authorize: Authorize,
  { mode }: ImpersonationMode,
  user: UserInfo,
  impersonated: ImpersonationHeaders,
  attributes: AccessAttributes,
): Promise<UserInfo> {
  const ask = async (requested: AccessAttributes): Promise<void> => {
    const decision = await authorize(user, requested)
    if (!decision.allowed) throw refusal(user, requested, decision)
  }
  const about = (group: string, resource: string, name: string): Extract<AccessAttributes, { resource: string }> => ({
    verb: mode === '' ? 'impersonate' : `impersonate:${mode}`,
    group,
    resource,
    subresource: '',
    namespace: '',
    name,
  })
  // The newer ways have a group of their own for users and groups.
  const ownGroup = mode === '' ? '' : AUTHENTICATION
  if (mode !== '') await ask({ ...attributes, verb: `impersonate-on:${mode}:${attributes.verb}` })
  const account = parseAccountUser(impersonated.name)
  const node = mode === '' ? undefined : nodeOf(impersonated.name)
  if (account) await ask({ ...about(ownGroup, 'serviceaccounts', account.name), namespace: account.namespace })
  else if (node) await ask(about(ownGroup, 'nodes', mode === 'associated-node' ? '*' : node))
  else await ask(about(ownGroup, 'users', impersonated.name))
  if (impersonated.uid !== '') await ask(about(AUTHENTICATION, 'uids', impersonated.uid))
  if (mode !== '') checkGroups(user, impersonated.groups, about(ownGroup, 'groups', ''))
  for (const group of impersonated.groups) await ask(about(ownGroup, 'groups', group))
  for (const [key, values] of Object.entries(impersonated.extra)) {
    for (const value of values) await ask({ ...about(AUTHENTICATION, 'userextras', value), subresource: key })
  }
  const known = node ? ['system:nodes'] : account ? accountGroups(account.namespace) : []
  return {
    ...impersonated,
    groups: withCommonGroup(impersonated.name, impersonated.groups.length > 0 ? impersonated.groups : known),
  }
}

const AUTHENTICATION = 'authentication.k8s.io'

/** By the newer ways nobody becomes an administrator. */
function checkGroups(
  user: UserInfo,
  groups: readonly string[],
  attributes: Extract<AccessAttributes, { resource: string }>,
): void {
  const no = (name: string, reason: string): StatusError =>
    refusal(user, { ...attributes, name }, { allowed: false, reason })
  if (groups.includes('')) throw no('', 'impersonating the empty string group is not allowed')
  if (groups.includes(MASTERS)) throw no(MASTERS, 'impersonating the system:masters group is not allowed')
}

/** Everybody is in the group of those who are known, or of those who are not. */
function withCommonGroup(name: string, groups: readonly string[]): readonly string[] {
  const isUnknown = name === 'system:anonymous' || groups.includes(UNAUTHENTICATED)
  const common = isUnknown ? UNAUTHENTICATED : AUTHENTICATED
  return groups.includes(common) ? groups : [...groups, common]
}
