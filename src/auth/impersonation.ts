// Requests in somebody else's name. There are several ways to be allowed that: the older one takes nothing but the
// verb `impersonate`; the others are each for one sort of user, and also ask whether the caller may do what the request
// does in the name of such a user (`impersonate-on:user-info:list`). The first way that is open counts.

import { badRequest, StatusError } from '../meta/errors/status.js'
import { compareTexts, printStrings, quote } from '../meta/go/go-text.js'
import { checkDnsSubdomain } from '../meta/object/names.js'
import { type Deed } from '../request/access-attributes.js'
import { type Caller } from '../request/user-info.js'
import { AUTHENTICATED, MASTERS, UNAUTHENTICATED } from './authn/authenticate.js'
import { accountGroups, parseAccountUser } from './authn/service-accounts.js'
import { type Authorizer, refusal } from './authz/authorize.js'

/** Who the caller becomes; the caller if the headers, by lower-case names, ask for nobody. */
export type Impersonate = (
  caller: Caller,
  headers: ReadonlyMap<string, readonly string[]>,
  deed: Deed,
) => Promise<Caller>

/** Of how many callers it is remembered which way was open to them. */
const REMEMBERED = 1_024

export function createImpersonation(authorize: Authorizer): Impersonate {
  // The way that was open last is tried first; so what is told of a refusal is about that one.
  const lastWays = new Map<string, Way>()
  return async (caller, headers, deed) => {
    const wished = readHeaders(headers)
    if (!wished) return caller
    const id = JSON.stringify([caller.name, caller.uid, caller.groups])
    const last = lastWays.get(id)
    let refused: StatusError | undefined
    for (const way of last ? [last, ...WAYS.filter(each => each !== last)] : WAYS) {
      if (!way.isFor(wished, caller)) continue
      try {
        const identity = await tryWay(authorize, way, caller, wished, deed)
        if (lastWays.size >= REMEMBERED) lastWays.clear()
        lastWays.set(id, way)
        return { ...identity, userAgent: caller.userAgent }
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        refused ??= error
      }
    }
    throw refused!
  }
}

/** As the headers have it, before anything is added. */
interface Wished {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

const EXTRA = 'impersonate-extra-'

function readHeaders(headers: ReadonlyMap<string, readonly string[]>): Wished | undefined {
  const name = headers.get('impersonate-user')?.[0] ?? ''
  const uid = headers.get('impersonate-uid')?.[0] ?? ''
  const groups = headers.get('impersonate-group') ?? []
  const extra: Record<string, readonly string[]> = {}
  for (const [header, values] of headers) {
    if (!header.startsWith(EXTRA)) continue
    const key = unescapeKey(header.slice(EXTRA.length))
    extra[key] = [...(extra[key] ?? []), ...values]
  }
  const wished = { name, uid, groups, extra }
  if (name !== '') return wished
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined
  throw badRequest(`requested ${printWished(wished)} without impersonating a user name`)
}

function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

function printWished({ name, uid, groups, extra }: Wished): string {
  const printedGroups = groups.length === 0 ? '[]string(nil)' : printStrings(groups)
  const keys = Object.keys(extra).toSorted(compareTexts)
  const pairs = keys.map(key => `${quote(key)}:${printStrings(extra[key]!)}`)
  const printedExtra = pairs.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${pairs.join(', ')}}`
  return `&user.DefaultInfo{Name:${quote(name)}, UID:${quote(uid)}, Groups:${printedGroups}, Extra:${printedExtra}}`
}

// ---- the ways

interface Way {
  /** Empty for the older way. */
  readonly mode: string
  isFor(wished: Wished, caller: Caller): boolean
}

const WAYS: readonly Way[] = [
  {
    mode: 'associated-node',
    isFor: (wished, caller) =>
      isNameOnly(wished) && parseAccountUser(caller.name) !== undefined && nodeOf(wished.name) === ownNode(caller),
  },
  { mode: 'arbitrary-node', isFor: wished => isNameOnly(wished) && nodeOf(wished.name) !== undefined },
  { mode: 'serviceaccount', isFor: wished => isNameOnly(wished) && parseAccountUser(wished.name) !== undefined },
  {
    mode: 'user-info',
    isFor: ({ name }) => nodeOf(name) === undefined && parseAccountUser(name) === undefined,
  },
  { mode: '', isFor: () => true },
]

const isNameOnly = ({ uid, groups, extra }: Wished): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0

const NODE = 'system:node:'

function nodeOf(user: string): string | undefined {
  const name = user.startsWith(NODE) ? user.slice(NODE.length) : ''
  return name !== '' && checkDnsSubdomain(name).length === 0 ? name : undefined
}

/** The node that the bearer of a service account's token runs on; none is no node's name. */
function ownNode({ extra }: Caller): string {
  const names = extra['authentication.kubernetes.io/node-name'] ?? []
  return names.length === 1 ? names[0]! : ''
}

type Whom = Omit<Caller, 'userAgent'>

/** Throws the refusal of the first question that is answered no. */
async function tryWay(authorize: Authorizer, { mode }: Way, caller: Caller, wished: Wished, deed: Deed): Promise<Whom> {
  const ask = async (asked: Deed): Promise<void> => {
    const verdict = await authorize(caller, asked)
    if (!verdict.allowed) throw refusal(caller, asked, verdict)
  }
  const about = (group: string, resource: string, name: string): Extract<Deed, { resource: string }> => ({
    verb: mode === '' ? 'impersonate' : `impersonate:${mode}`,
    group,
    resource,
    subresource: '',
    namespace: '',
    name,
  })
  // The newer ways have a group of their own for users and groups.
  const ownGroup = mode === '' ? '' : AUTHENTICATION
  if (mode !== '') await ask({ ...deed, verb: `impersonate-on:${mode}:${deed.verb}` })
  const account = parseAccountUser(wished.name)
  const node = mode === '' ? undefined : nodeOf(wished.name)
  if (account) await ask({ ...about(ownGroup, 'serviceaccounts', account.name), namespace: account.namespace })
  else if (node) await ask(about(ownGroup, 'nodes', mode === 'associated-node' ? '*' : node))
  else await ask(about(ownGroup, 'users', wished.name))
  if (wished.uid !== '') await ask(about(AUTHENTICATION, 'uids', wished.uid))
  if (mode !== '') checkGroups(caller, wished.groups, about(ownGroup, 'groups', ''))
  for (const group of wished.groups) await ask(about(ownGroup, 'groups', group))
  for (const [key, values] of Object.entries(wished.extra)) {
    for (const value of values) await ask({ ...about(AUTHENTICATION, 'userextras', value), subresource: key })
  }
  const known = node ? ['system:nodes'] : account ? accountGroups(account.namespace) : []
  return { ...wished, groups: withCommonGroup(wished.name, wished.groups.length > 0 ? wished.groups : known) }
}

const AUTHENTICATION = 'authentication.k8s.io'

/** By the newer ways nobody becomes an administrator. */
function checkGroups(caller: Caller, groups: readonly string[], deed: Extract<Deed, { resource: string }>): void {
  const no = (name: string, reason: string): StatusError =>
    refusal(caller, { ...deed, name }, { allowed: false, reason })
  if (groups.includes('')) throw no('', 'impersonating the empty string group is not allowed')
  if (groups.includes(MASTERS)) throw no(MASTERS, 'impersonating the system:masters group is not allowed')
}

/** Everybody is in the group of those who are known, or of those who are not. */
function withCommonGroup(name: string, groups: readonly string[]): readonly string[] {
  const isUnknown = name === 'system:anonymous' || groups.includes(UNAUTHENTICATED)
  const common = isUnknown ? UNAUTHENTICATED : AUTHENTICATED
  return groups.includes(common) ? groups : [...groups, common]
}
