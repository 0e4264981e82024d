// Impersonation: a request that is carried out as another user, named by its headers. There are several modes. The older
// one needs only the verb `impersonate`. Each of the newer modes is for one type of user, and also needs permission for
// what the request does (`impersonate-on:user-info:list`). The first mode that is allowed is used.

import { printFieldErrors } from '../meta/errors/field-errors.js'
import { badRequest, StatusError } from '../meta/errors/status.js'
import { compareTexts, printStrings, quote } from '../meta/go/go-text.js'
import { checkDomainPath } from '../meta/object/domain-path.js'
import { checkDnsSubdomain } from '../meta/object/names.js'
import { type AccessAttributes } from '../request/access-attributes.js'
import { type UserInfo } from '../request/user-info.js'
import { accountGroups, parseAccountUser } from './authn/service-accounts.js'
import { AUTHENTICATED, MASTERS, UNAUTHENTICATED } from './authn/system-groups.js'
import { type Authorize, refusal } from './authz/authorizer.js'

/** The impersonated user; undefined if the headers (by lower-case names) name none. */
export type Impersonate = (
  user: UserInfo,
  headers: ReadonlyMap<string, readonly string[]>,
  attributes: AccessAttributes,
) => Promise<Impersonated | undefined>

export interface Impersonated {
  readonly user: UserInfo
  /** The verb of the newer mode that allowed it, for the audit log. */
  readonly constraint: string | undefined
}

/** What metrics need to know. */
export interface ImpersonationObserver {
  /** A request named another user. The mode is the one that allowed it, and empty if none did. */
  attempted(mode: string, isAllowed: boolean, seconds: number): void
  /** The authorizer was asked for a permission of a mode. */
  asked(mode: string, isAllowed: boolean, seconds: number): void
}

/** The last mode of at most this many users is remembered. */
const MAX_REMEMBERED = 1_024

/**
 * `isConstrained`: whether there are the newer modes (ConstrainedImpersonation). Without them kube-apiserver counts
 * nothing, so that there is no observer.
 */
export function createImpersonation(
  authorize: Authorize,
  isConstrained = true,
  observer?: ImpersonationObserver,
): Impersonate {
  const modes = isConstrained ? MODES : MODES.filter(({ mode }) => mode === '')
  // The mode that was allowed last is tried first, so that the message of a refusal is about this mode.
  const lastModes = new Map<string, ImpersonationMode>()
  return async (user, headers, attributes) => {
    const impersonated = readHeaders(headers)
    if (!impersonated) return undefined
    const began = performance.now()
    const id = JSON.stringify([user.name, user.uid, user.groups])
    const last = lastModes.get(id)
    let refused: StatusError | undefined
    for (const mode of last ? [last, ...modes.filter(each => each !== last)] : modes) {
      if (!mode.isFor(impersonated, user)) continue
      try {
        const ask = observer ? observed(authorize, mode, observer) : authorize
        const identity = await tryMode(ask, mode, user, impersonated, attributes)
        observer?.attempted(labelOf(mode), true, secondsSince(began))
        if (lastModes.size >= MAX_REMEMBERED) lastModes.clear()
        lastModes.set(id, mode)
        return { user: identity, constraint: mode.mode === '' ? undefined : `impersonate:${mode.mode}` }
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        refused ??= error
      }
    }
    observer?.attempted('', false, secondsSince(began))
    throw refused!
  }
}

const observed =
  (authorize: Authorize, mode: ImpersonationMode, observer: ImpersonationObserver): Authorize =>
  async (user, attributes) => {
    const began = performance.now()
    const decision = await authorize(user, attributes)
    observer.asked(labelOf(mode), decision.allowed, secondsSince(began))
    return decision
  }

const labelOf = ({ mode }: ImpersonationMode): string => mode || 'legacy'

const secondsSince = (began: number): number => (performance.now() - began) / 1000

/** The user as the headers name it, before groups are added. */
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
  // A Map, because a client chooses the keys: `constructor` and `__proto__` are keys like any other.
  const extra = new Map<string, readonly string[]>()
  for (const [header, values] of headers) {
    if (!header.startsWith(EXTRA)) continue
    const key = unescapeKey(header.slice(EXTRA.length))
    extra.set(key, [...(extra.get(key) ?? []), ...values])
  }
  const impersonated = { name, uid, groups, extra: Object.fromEntries(extra) }
  if (name !== '') return impersonated
  if (uid === '' && groups.length === 0 && extra.size === 0) return undefined
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
  const entries = Object.entries(extra).toSorted(([a], [b]) => compareTexts(a, b))
  const pairs = entries.map(([key, values]) => `${quote(key)}:${printStrings(values)}`)
  const printedExtra = pairs.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${pairs.join(', ')}}`
  return `&user.DefaultInfo{Name:${quote(name)}, UID:${quote(uid)}, Groups:${printedGroups}, Extra:${printedExtra}}`
}

// ---- modes

interface ImpersonationMode {
  /** Empty for the older mode. */
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

/** The node of the pod that a service account's token is bound to; empty if it is bound to none. */
function ownNode({ extra }: UserInfo): string {
  const names = extra['authentication.kubernetes.io/node-name'] ?? []
  return names.length === 1 ? names[0]! : ''
}

/** Throws the refusal of the first permission that is missing. */
async function tryMode(
  authorize: Authorize,
  { mode }: ImpersonationMode,
  user: UserInfo,
  impersonated: ImpersonationHeaders,
  attributes: AccessAttributes,
): Promise<UserInfo> {
  const need = async (requested: AccessAttributes): Promise<void> => {
    const decision = await authorize(user, requested)
    if (!decision.allowed) throw refusal(user, requested, decision)
  }
  const permission = (
    group: string,
    resource: string,
    name: string,
  ): Extract<AccessAttributes, { resource: string }> => ({
    verb: mode === '' ? 'impersonate' : `impersonate:${mode}`,
    group,
    resource,
    subresource: '',
    namespace: '',
    name,
  })
  // The newer modes use another API group for users and groups.
  const ownGroup = mode === '' ? '' : AUTHENTICATION
  if (mode !== '') await need({ ...attributes, verb: `impersonate-on:${mode}:${attributes.verb}` })
  const account = parseAccountUser(impersonated.name)
  const node = mode === '' ? undefined : nodeOf(impersonated.name)
  if (account) await need({ ...permission(ownGroup, 'serviceaccounts', account.name), namespace: account.namespace })
  else if (node) await need(permission(ownGroup, 'nodes', mode === 'associated-node' ? '*' : node))
  else await need(permission(ownGroup, 'users', impersonated.name))
  if (impersonated.uid !== '') await need(permission(AUTHENTICATION, 'uids', impersonated.uid))
  if (mode !== '') checkGroups(user, impersonated.groups, permission(ownGroup, 'groups', ''))
  for (const group of impersonated.groups) await need(permission(ownGroup, 'groups', group))
  if (mode !== '') checkExtra(user, impersonated.extra, permission(AUTHENTICATION, 'userextras', ''))
  for (const [key, values] of Object.entries(impersonated.extra)) {
    for (const value of values) await need({ ...permission(AUTHENTICATION, 'userextras', value), subresource: key })
  }
  const implied = node ? ['system:nodes'] : account ? accountGroups(account.namespace) : []
  return {
    ...impersonated,
    groups: withCommonGroup(impersonated.name, impersonated.groups.length > 0 ? impersonated.groups : implied),
  }
}

const AUTHENTICATION = 'authentication.k8s.io'

/** The newer modes do not allow the group of administrators. */
function checkGroups(
  user: UserInfo,
  groups: readonly string[],
  attributes: Extract<AccessAttributes, { resource: string }>,
): void {
  const refuse = (name: string, reason: string): StatusError =>
    refusal(user, { ...attributes, name }, { allowed: false, reason })
  if (groups.includes('')) throw refuse('', 'impersonating the empty string group is not allowed')
  if (groups.includes(MASTERS)) throw refuse(MASTERS, 'impersonating the system:masters group is not allowed')
}

/** The newer modes allow only keys with a domain in front, and no empty values. */
function checkExtra(user: UserInfo, extra: ImpersonationHeaders['extra'], attributes: AccessAttributes): void {
  for (const [key, values] of Object.entries(extra)) {
    const reason = extraError(key, values)
    if (reason !== undefined) throw refusal(user, attributes, { allowed: false, reason })
  }
}

function extraError(key: string, values: readonly string[]): string | undefined {
  if (key === '') return 'impersonating the empty string key in extra is not allowed'
  const errors = checkDomainPath(key, 'extra.key')
  if (errors.length > 0) return `impersonating an invalid key in extra is not allowed: ${printFieldErrors(errors)}`
  if (key !== key.toLowerCase()) {
    return `impersonating a non-lowercase key in extra is not allowed: ${quote(key)}`
  }
  return values.includes('') ? 'impersonating the empty string value in extra is not allowed' : undefined
}

/** Every user is in system:authenticated or in system:unauthenticated. */
function withCommonGroup(name: string, groups: readonly string[]): readonly string[] {
  const isUnauthenticated = name === 'system:anonymous' || groups.includes(UNAUTHENTICATED)
  const common = isUnauthenticated ? UNAUTHENTICATED : AUTHENTICATED
  return groups.includes(common) ? groups : [...groups, common]
}
