// Access control: the authorizer, the authority for tokens of service accounts, and the reviews of both.

import { reviewCaller, staticTokens, type TokenAuthenticator, webhookTokens } from '../../../auth/authenticator.js'
import { ALL_RULES, type Authorizer, createRbacRules, type RuleResolver } from '../../../auth/authorizer.js'
import type { ExternalSigner } from '../../../auth/external-signer.js'
import { startNodeGraph } from '../../../auth/nodes.js'
import { startRbacStore } from '../../../auth/rbac-store.js'
import { reviewKinds, tokenRequests } from '../../../auth/reviews.js'
import {
  accountTokens,
  bootstrapTokens,
  countTokenUses,
  DEFAULT_ISSUER,
  type FindObject,
  legacyTokens,
  loadSigningKey,
  type MarkTokenUsed,
  type SigningKey,
  type TokenAuthority,
} from '../../../auth/tokens.js'
import type { Dials } from '../../../base/dial.js'
import type { Logger } from '../../../base/logger.js'
import type { MetricsRegistry } from '../../../base/metrics.js'
import { UsageError } from '../../../base/usage-error.js'
import type { Kind } from '../../../kinds/kind.js'
import type { Registry } from '../../../kinds/registry.js'
import { type FeatureGates, isGateOn } from '../../../meta/feature-gates.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import { createLister } from '../../../objects/lister.js'
import type { VirtualResource } from '../../../request/virtual-resource.js'
import type { Store } from '../../../storage/store.js'
import { type ApiContext } from '../../../verbs/api-context.js'
import { serverObjects } from '../../../verbs/system-writes.js'
import type { Webhooks } from '../../../webhook/client.js'
import type {
  AuthenticationOptions,
  ServiceAccountOptions,
  TokenWebhookOptions,
} from '../../options/access/authentication.js'
import { type AuthorizationOptions, allowsEverything } from '../../options/access/authorization.js'
import { messageOf } from '../../options/flag-files.js'
import { requireKind } from '../kinds.js'
import { openAuthorization } from './authorization.js'
import { openJwtTokens } from './jwt-tokens.js'
import type { Loopback } from './loopback.js'

export interface AccessOptions {
  readonly authentication: AuthenticationOptions
  readonly authorization: AuthorizationOptions
  readonly api: { readonly featureGates: FeatureGates }
  readonly egress?: Dials | undefined
}

export interface AccessControl {
  readonly authorizer: Authorizer
  readonly rules: RuleResolver
  readonly tokens: readonly TokenAuthenticator[]
  readonly authority: TokenAuthority
  readonly virtualResources: readonly VirtualResource[]
  stop(): void
}

const WEBHOOK_TIMEOUT_MS = 30_000
const RBAC = 'rbac.authorization.k8s.io'

/** Everything is allowed, and no webhook can deny it. */
const isOpen = (options: AuthorizationOptions): boolean =>
  allowsEverything(options) && !options.modes.includes('Webhook') && options.configFile === undefined

/** Resolves when the stored roles are known. */
export async function openAccess(
  store: Store,
  context: ApiContext,
  registry: Registry,
  { authentication, authorization, api: { featureGates }, egress }: AccessOptions,
  { webhooks, loopback }: { readonly webhooks: Webhooks; readonly loopback: Loopback },
  { metrics, log }: { readonly metrics: MetricsRegistry; readonly log: Logger },
): Promise<AccessControl> {
  const kindOf = (group: string, kind: string): Kind => requireKind(registry, group, kind)
  const [authority, roles, nodes] = await Promise.all([
    openAuthority(store, authentication.serviceAccounts, { metrics, log }),
    isOpen(authorization)
      ? undefined
      : startRbacStore(
          context,
          {
            clusterRoles: kindOf(RBAC, 'ClusterRole'),
            roles: kindOf(RBAC, 'Role'),
            clusterRoleBindings: kindOf(RBAC, 'ClusterRoleBinding'),
            roleBindings: kindOf(RBAC, 'RoleBinding'),
          },
          log,
        ),
    authorization.modes.includes('Node')
      ? startNodeGraph(
          context,
          {
            Pod: kindOf('', 'Pod'),
            PersistentVolume: kindOf('', 'PersistentVolume'),
            VolumeAttachment: kindOf('storage.k8s.io', 'VolumeAttachment'),
            ResourceSlice: kindOf('resource.k8s.io', 'ResourceSlice'),
            ...(isGateOn(featureGates, 'PodCertificateRequest') && {
              PodCertificateRequest: kindOf('certificates.k8s.io', 'PodCertificateRequest'),
            }),
          },
          log,
        )
      : undefined,
  ])
  const { authorizer, rules, stop } = openAuthorization(authorization, {
    roles,
    nodes,
    featureGates,
    webhooks,
    now: context.now,
    metrics,
    log,
  })
  const lister = createLister(registry, context)
  const find: FindObject = (kind, namespace, name) => lister.find({ group: '', kind }, namespace, name)
  const { audiences } = authority
  const markUsed: MarkTokenUsed = (secret, label, day) => {
    const { namespace = '', name = '' } = metaOf(secret)
    serverObjects(context)
      .change(kindOf('', 'Secret'), namespace, name, old =>
        metaOf(old).uid === metaOf(secret).uid ? withLabel(old, label, day) : undefined,
      )
      .catch((error: unknown) => log.warn('the use of a token could not be noted', { namespace, name, error }))
  }
  const askWebhook = ({ target, version, ttlMs }: TokenWebhookOptions): TokenAuthenticator =>
    webhookTokens({
      call: reviewCaller(webhooks, target, WEBHOOK_TIMEOUT_MS),
      version,
      ttlMs,
      ownAudiences: audiences,
      now: context.now,
      onError: error => log.error('a webhook could not be asked about a token', { error }),
    })
  const jwt =
    authentication.openIdConnect &&
    openJwtTokens(authentication.openIdConnect, {
      ownAudiences: audiences,
      ownIssuers: authority.issuers,
      now: context.now,
      featureGates,
      egress,
      metrics,
      log,
    })
  const uses = countTokenUses(metrics)
  const tokens = [
    // Before those that ask others about a token.
    loopback.tokens(audiences),
    staticTokens(authentication.tokens, audiences),
    accountTokens(authority, find, context.now, uses),
    legacyTokens(authority, find, context.now, markUsed, uses),
    ...(authentication.bootstrapTokens ? [bootstrapTokens(audiences, find, context.now)] : []),
    // After the tokens of service accounts: their keys are here, those of other issuers may have to be requested.
    ...(jwt ? [jwt.authenticate] : []),
    ...(authentication.tokenWebhook ? [askWebhook(authentication.tokenWebhook)] : []),
  ]
  return {
    authorizer,
    // Roles and bindings are checked against the stored roles, whatever the modes are.
    rules: roles ? createRbacRules(roles) : ALL_RULES,
    tokens,
    authority,
    virtualResources: [
      ...reviewKinds(authorizer, rules, tokens, audiences),
      tokenRequests(authority, find, isGateOn(featureGates, 'TokenRequestServiceAccountUIDValidation')),
    ],
    stop() {
      stop()
      jwt?.stop()
      authority.outside?.stop()
      roles?.stop()
      nodes?.stop()
    },
  }
}

interface OpenAuthority extends TokenAuthority {
  readonly outside: ExternalSigner | undefined
}

async function openAuthority(
  store: Store,
  options: ServiceAccountOptions,
  env: { readonly metrics: MetricsRegistry; readonly log: Logger },
): Promise<OpenAuthority> {
  const { signingKey: given, verificationKeys, maxTokenSeconds, extendsExpiration, signingEndpoint } = options
  const [issuer = DEFAULT_ISSUER, ...furtherIssuers] = options.issuers
  const issuers = [issuer, ...furtherIssuers] as const
  const audiences = options.audiences.length === 0 ? issuers : options.audiences
  if (signingEndpoint !== undefined) {
    const outside = await openOutside(signingEndpoint, maxTokenSeconds, env)
    const maxSeconds = maxTokenSeconds ?? outside.maxSeconds
    return { issuers, audiences, signingKey: undefined, keys: [], outside, maxSeconds, extendsExpiration }
  }
  const signingKey = given?.privateKey ? (given as SigningKey) : await loadSigningKey(store)
  const keys = [signingKey, ...verificationKeys.filter(({ id }) => id !== signingKey.id)]
  return { issuers, audiences, signingKey, keys, outside: undefined, maxSeconds: maxTokenSeconds, extendsExpiration }
}

async function openOutside(
  path: string,
  maxSeconds: number | undefined,
  env: { readonly metrics: MetricsRegistry; readonly log: Logger },
): Promise<ExternalSigner> {
  const { openExternalSigner } = await import('../../../auth/external-signer.js')
  const signer = await openExternalSigner({ path, ...env }).catch((error: unknown) => {
    throw new UsageError(
      `--service-account-signing-endpoint=${path}: while setting up external-jwt-signer: ${messageOf(error)}`,
    )
  })
  if (maxSeconds === undefined || maxSeconds <= signer.maxSeconds) return signer
  signer.stop()
  throw new UsageError(
    `service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: ${maxSeconds}s > ${signer.maxSeconds}s`,
  )
}

const withLabel = (object: ApiObject, label: string, value: string): ApiObject => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...metaOf(object).labels, [label]: value } },
})
