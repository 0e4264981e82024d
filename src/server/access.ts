// Who may do what, put together: rights from roles, tokens and who knows them, and the reviews that tell of both.
import { accountTokens, type FindObject } from '../auth/account-tokens.js'
import { type Identity, staticTokens, type TokenAuthenticator } from '../auth/authenticate.js'
import { reviewKinds } from '../auth/reviews/review-kinds.js'
import { tokenRequests } from '../auth/reviews/token-request.js'
import { ALL_RIGHTS, type Rights, rbacRights } from '../auth/rights.js'
import { loadSigningKey, type SigningKey } from '../auth/signing-key.js'
import { followRbac } from '../auth/stored-rbac.js'
import type { Kind } from '../kinds/kind.js'
import type { Registry } from '../kinds/registry.js'
import type { ResourceContext } from '../resources/resource-context.js'
import { decodeStored } from '../resources/stored-object.js'
import type { VirtualKind } from '../resources/virtual-kind.js'
import type { Store } from '../storage/store.js'

export interface AccessOptions {
  readonly authorization: 'RBAC' | 'AlwaysAllow'
  /** Static tokens. */
  readonly tokens: ReadonlyMap<string, Identity>
}

export interface AccessControl {
  readonly rights: Rights
  readonly tokens: readonly TokenAuthenticator[]
  readonly virtualKinds: readonly VirtualKind[]
  readonly signingKey: SigningKey
  stop(): void
}

const RBAC = 'rbac.authorization.k8s.io'

/** Answers when the roles that are stored are known. */
export async function openAccess(
  store: Store,
  context: ResourceContext,
  registry: Registry,
  { authorization, tokens }: AccessOptions,
): Promise<AccessControl> {
  const [key, roles] = await Promise.all([
    loadSigningKey(store),
    authorization === 'RBAC'
      ? followRbac(context, {
          clusterRoles: kindOf(registry, RBAC, 'ClusterRole'),
          roles: kindOf(registry, RBAC, 'Role'),
          clusterRoleBindings: kindOf(registry, RBAC, 'ClusterRoleBinding'),
          roleBindings: kindOf(registry, RBAC, 'RoleBinding'),
        })
      : undefined,
  ])
  const rights = roles ? rbacRights(roles) : ALL_RIGHTS
  const find: FindObject = async (kind, namespace, name) => {
    const entry = await context.storeOf(kindOf(registry, '', kind)).get(namespace, name)
    return entry && decodeStored(entry)
  }
  const known = [staticTokens(tokens), accountTokens(key, find, context.now)]
  return {
    rights,
    tokens: known,
    signingKey: key,
    virtualKinds: [...reviewKinds(rights, known), tokenRequests(key, find)],
    stop: () => roles?.stop(),
  }
}

function kindOf(registry: Registry, group: string, name: string): Kind {
  const kind = registry.findKind(group, name)
  if (!kind) throw new Error(`the kind ${name} is missing from the registry`)
  return kind
}
