// Authorization: whether a user may do what a request does, and the text of a refusal.

import type { Awaitable } from '../../base/awaitable.js'
import { forbidden, type StatusError } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import type { AccessAttributes } from '../../request/access-attributes.js'
import { type UserInfo } from '../../request/user-info.js'
import { MASTERS } from '../authn/system-groups.js'

export interface Decision {
  readonly allowed: boolean
  /** Denied: no authorizer after this one is asked. Otherwise one that does not allow has no opinion. */
  readonly denied?: boolean | undefined
  /** Why it is allowed, or why not; empty when no rule allows it and nothing more is known. */
  readonly reason: string
  /** What went wrong, for example that a webhook did not answer. */
  readonly error?: string | undefined
}

export interface Authorizer {
  authorize(user: UserInfo, attributes: AccessAttributes): Awaitable<Decision>
  /**
   * The same decision without a promise, for expressions of CEL, which cannot wait. Throws a PendingDecision if it must be
   * waited for; see `whenDecided`. Within one `scope`, for example one request, the same question has one answer.
   */
  decideNow(user: UserInfo, attributes: AccessAttributes, scope: object): Decision
}

/** A decision that is not known yet. The expression is evaluated again once it is. */
export class PendingDecision extends Error {
  constructor(readonly decided: Promise<unknown>) {
    super('an authorizer has not answered yet')
  }
}

/**
 * Carries out an action that evaluates expressions, again after each decision that it had to wait for. Every admission plugin
 * is called through it, so that it makes no function for a call.
 */
export function whenDecided<T, Input = void>(action: (input: Input) => Awaitable<T>, input: Input): Awaitable<T> {
  try {
    const done = action(input)
    return done instanceof Promise ? done.catch((error: unknown) => afterDecision(error, action, input)) : done
  } catch (error) {
    return afterDecision(error, action, input)
  }
}

function afterDecision<T, Input>(error: unknown, action: (input: Input) => Awaitable<T>, input: Input): Promise<T> {
  if (!(error instanceof PendingDecision)) throw error
  return error.decided.then(() => whenDecided(action, input))
}

export type Authorize = Authorizer['authorize']

/** Late bound: the server starts to write before the stored roles are known. */
export type GetAuthorizer = () => Authorizer

export const ALLOWED: Decision = { allowed: true, reason: '' }

/** An authorizer that decides without waiting. Members of system:masters are allowed before it is asked. */
export function createAuthorizer(decide: (user: UserInfo, attributes: AccessAttributes) => Decision): Authorizer {
  const decideNow = (user: UserInfo, attributes: AccessAttributes): Decision =>
    user.groups.includes(MASTERS) ? ALLOWED : decide(user, attributes)
  return { authorize: decideNow, decideNow }
}

/** --authorization-mode=AlwaysAllow. */
export const ALWAYS_ALLOW: Authorizer = createAuthorizer(() => ALLOWED)

const DENIED: Decision = { allowed: false, reason: 'Everything is forbidden.' }

/** --authorization-mode=AlwaysDeny. */
export const ALWAYS_DENY: Authorizer = createAuthorizer(() => DENIED)

/** The 403 of a request that is not allowed. */
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
