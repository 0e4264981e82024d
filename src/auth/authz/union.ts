// Several authorizers in the order of --authorization-mode: the first that allows or denies decides.
import { type Awaitable, andThen } from '../../base/awaitable.js'
import { aggregate } from '../../meta/errors/aggregate.js'
import type { UserInfo } from '../../request/user-info.js'
import { MASTERS } from '../authn/system-groups.js'
import { ALLOWED, type Authorizer, type Decision } from './authorizer.js'
import type { PolicyRule } from './rbac.js'
import type { RuleResolver } from './rule-resolver.js'

/** Members of system:masters are allowed before any of them is asked. */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  if (authorizers.length === 1) return authorizers[0]!
  return {
    authorize(user, attributes) {
      const askFrom = (at: number, undecided: readonly Decision[]): Awaitable<Decision> => {
        const authorizer = authorizers[at]
        if (!authorizer) return joined(undecided)
        return andThen(authorizer.authorize(user, attributes), decision =>
          isFinal(decision) ? decision : askFrom(at + 1, [...undecided, decision]),
        )
      }
      return user.groups.includes(MASTERS) ? ALLOWED : askFrom(0, [])
    },
    decideNow(user, attributes, scope) {
      if (user.groups.includes(MASTERS)) return ALLOWED
      const undecided: Decision[] = []
      for (const authorizer of authorizers) {
        const decision = authorizer.decideNow(user, attributes, scope)
        if (isFinal(decision)) return decision
        undecided.push(decision)
      }
      return joined(undecided)
    },
  }
}

const isFinal = ({ allowed, denied }: Decision): boolean => allowed || denied === true

/** No authorizer has an opinion. The reasons of all are in the message. */
function joined(undecided: readonly Decision[]): Decision {
  const reasons = undecided.map(({ reason }) => reason).filter(Boolean)
  const errors = undecided.flatMap(({ error }) => (error === undefined ? [] : [error]))
  return { allowed: false, reason: reasons.join('\n'), ...(errors.length > 0 && { error: aggregate(errors) }) }
}

/** The rules of all of them together. */
export function unionRules(resolvers: readonly Pick<RuleResolver, 'rulesFor'>[]): Pick<RuleResolver, 'rulesFor'> {
  return {
    rulesFor(user: UserInfo, namespace: string) {
      const rules: PolicyRule[] = []
      const errors: string[] = []
      let incomplete = false
      for (const resolver of resolvers) {
        const resolved = resolver.rulesFor(user, namespace)
        rules.push(...resolved.rules)
        if (resolved.error !== '') errors.push(resolved.error)
        incomplete ||= resolved.incomplete === true
      }
      return { rules, error: errors.length === 0 ? '' : aggregate(errors), incomplete }
    },
  }
}
