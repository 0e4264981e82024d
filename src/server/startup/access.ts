// Who may do what, put together: rights from roles, tokens and who knows them, and the reviews that tell of both.

import { type Identity, staticTokens, type TokenAuthenticator } from '../../auth/authenticator.js'
import {
  ALL_RULES,
  ALWAYS_ALLOW,
  ALWAYS_DENY,
  type Authorizer,
  createRbacAuthorizer,
  createRbacRules,
  NO_RULES,
  type RuleResolver,
} from '../../auth/authorizer.js'
import { startRbacStore } from '../../auth/rbac-store.js'
import { reviewKinds, tokenRequests } from '../../auth/reviews.js'
import { accountTokens, type FindObject, loadSigningKey, type SigningKey } from '../../auth/tokens.js'
import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { VirtualResource } from '../../request/virtual-resource.js'
import type { Store } from '../../storage/store.js'
import { type ApiContext } from '../../verbs/api-context.js'

export interface AccessOptions {
  readonly authorization: 'RBAC' | 'AlwaysAllow' | 'AlwaysDeny'
  /** Static tokens. */
  readonly tokens: ReadonlyMap<string, Identity>
}

export interface AccessControl {
  readonly authorizer: Authorizer
  readonly rules: RuleResolver
  readonly tokens: readonly TokenAuthenticator[]
  readonly virtualResources: readonly VirtualResource[]
  readonly signingKey: SigningKey
  stop(): void
}

const RBAC = 'rbac.authorization.k8s.io'

/** Answers when the roles that are stored are known. */
export async function openAccess(
  store: Store,
  context: ApiContext,
  registry: Registry,
  { authorization, tokens }: AccessOptions,
): Promise<AccessControl> {
  const [key, roles] = await Promise.all([
    loadSigningKey(store),
    authorization === 'RBAC'
      ? startRbacStore(context, {
          clusterRoles: kindOf(registry, RBAC, 'ClusterRole'),
          roles: kindOf(registry, RBAC, 'Role'),
          clusterRoleBindings: kindOf(registry, RBAC, 'ClusterRoleBinding'),
          roleBindings: kindOf(registry, RBAC, 'RoleBinding'),
        })
      : undefined,
  ])
  const { authorizer, rules } = roles
    ? { authorizer: createRbacAuthorizer(roles), rules: createRbacRules(roles) }
    : authorization === 'AlwaysDeny'
      ? { authorizer: ALWAYS_DENY, rules: NO_RULES }
      : { authorizer: ALWAYS_ALLOW, rules: ALL_RULES }
  const find: FindObject = async (kind, namespace, name) => {
    const entry = await context.objectStore(kindOf(registry, '', kind)).get(namespace, name)
    return entry && decodeStored(entry)
  }
  const known = [staticTokens(tokens), accountTokens(key, find, context.now)]
  return {
    authorizer,
    rules,
    tokens: known,
    signingKey: key,
    virtualResources: [...reviewKinds(authorizer, rules, known), tokenRequests(key, find)],
    stop: () => roles?.stop(),
  }
}

function kindOf(registry: Registry, group: string, name: string): Kind {
  const kind = registry.findKind(group, name)
  if (!kind) throw new Error(`the kind ${name} is missing from the registry`)
  return kind
}
