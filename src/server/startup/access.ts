// Who may do what, put together: rights from roles, tokens and who knows them, and the reviews that tell of both.

import { type Identity, staticTokens, type TokenAuthenticator } from '../../auth/authenticator.js'
import { ALL_RIGHTS, type Rights, rbacRights } from '../../auth/authorizer.js'
import { followRbac } from '../../auth/rbac-store.js'
import { reviewKinds, tokenRequests } from '../../auth/reviews.js'
import { accountTokens, type FindObject, loadSigningKey, type SigningKey } from '../../auth/tokens.js'
import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import { decodeStored } from '../../objects/stored-object.js'
import type { VirtualKind } from '../../request/virtual-resource.js'
import type { Store } from '../../storage/store.js'
import { type ResourceContext } from '../../verbs/api-context.js'

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
