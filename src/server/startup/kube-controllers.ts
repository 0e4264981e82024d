// The controllers of kube-controller-manager that this server has.

import type { Aggregator } from '../../aggregation/aggregator.js'
import { issueLegacyToken, type TokenAuthority } from '../../auth/tokens.js'
import {
  type ControllerEnv,
  type RegisteredController,
  startAttributesClassProtection,
  startClaimProtection,
  startClusterRoleAggregation,
  startEndpointSliceMirroring,
  startGarbageCollector,
  startLegacyTokenCleaner,
  startNamespaceController,
  startPolicyStatus,
  startResourceQuotas,
  startRootCaPublisher,
  startServiceAccounts,
  startServiceCidrs,
  startStorageMigration,
  startTokenSecrets,
  startTtlAfterFinished,
  startVolumeProtection,
} from '../../controllers/start-controllers.js'
import type { Kind } from '../../kinds/kind.js'
import type { Registry } from '../../kinds/registry.js'
import type { Store } from '../../storage/store.js'
import { builtinTypes } from '../../types/type-table.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { type ControllerOptions, isControllerOn } from '../options/controllers.js'
import { DEFINITIONS, requireKind } from './kinds.js'

export interface KubeControllerParts {
  readonly store: Store
  readonly context: ApiContext
  readonly registry: Registry
  readonly aggregator: Aggregator
  readonly options: ControllerOptions
  /** The authority of the server's certificate, in PEM form; undefined if https is not served. */
  readonly ca: string | undefined
  /** Signs the tokens that are stored in Secrets. */
  readonly authority: TokenAuthority
  /** Whether StorageVersionMigrations are carried out, which is a feature gate. */
  readonly migrates: boolean
  readonly env: ControllerEnv
}

type Start = RegisteredController['start']

/** Those that --controllers switches on. */
export function kubeControllers(parts: KubeControllerParts): RegisteredController[] {
  const starts = Object.entries(startsOf(parts)).filter(([name]) => isControllerOn(name, parts.options.controllers))
  return starts.map(([name, start]) => ({ name, start }))
}

function startsOf({
  store,
  context,
  registry,
  aggregator,
  ca,
  authority,
  migrates,
  env,
}: KubeControllerParts): Readonly<Record<string, Start>> {
  const { signingKey } = authority
  const core = (name: string): Kind => requireKind(registry, '', name)
  const [namespaces, accounts, secrets] = [core('Namespace'), core('ServiceAccount'), core('Secret')]
  const configMaps = core('ConfigMap')
  const [pods, claims, volumes] = [core('Pod'), core('PersistentVolumeClaim'), core('PersistentVolume')]
  const clusterRoles = requireKind(registry, 'rbac.authorization.k8s.io', 'ClusterRole')
  const endpointSlices = requireKind(registry, 'discovery.k8s.io', 'EndpointSlice')
  const serviceCidrs = requireKind(registry, 'networking.k8s.io', 'ServiceCIDR')
  const addresses = requireKind(registry, 'networking.k8s.io', 'IPAddress')
  const policies = requireKind(registry, 'admissionregistration.k8s.io', 'ValidatingAdmissionPolicy')
  const jobs = requireKind(registry, 'batch', 'Job')
  const classes = requireKind(registry, 'storage.k8s.io', 'VolumeAttributesClass')
  const migrations = requireKind(registry, 'storagemigration.k8s.io', 'StorageVersionMigration')
  const definitions = requireKind(registry, DEFINITIONS.group, DEFINITIONS.kind)
  return {
    'namespace-controller': () => startNamespaceController(context, registry, namespaces, env, aggregator.contents),
    'garbage-collector-controller': () => startGarbageCollector(store, context, registry, env),
    'serviceaccount-controller': () => startServiceAccounts(context, { namespaces, accounts }, env),
    ...(ca !== undefined && {
      'root-ca-certificate-publisher-controller': () =>
        startRootCaPublisher(context, { namespaces, configMaps }, ca, env),
    }),
    // Tokens in Secrets have no expiry, and an external signer signs none of these.
    ...(signingKey && {
      'serviceaccount-token-controller': () =>
        startTokenSecrets(
          context,
          { accounts, secrets },
          { ca, issue: (account, secret) => issueLegacyToken(account, secret, signingKey) },
          env,
        ),
    }),
    'legacy-serviceaccount-token-cleaner-controller': () =>
      startLegacyTokenCleaner(context, { accounts, secrets, pods, configMaps }, env),
    'resourcequota-controller': () => startResourceQuotas(store, context, registry, core('ResourceQuota'), env),
    'endpointslice-mirroring-controller': () =>
      startEndpointSliceMirroring(
        context,
        { endpoints: core('Endpoints'), services: core('Service'), endpointSlices },
        env,
      ),
    'ttl-after-finished-controller': () => startTtlAfterFinished(context, jobs, env),
    'validatingadmissionpolicy-status-controller': () =>
      startPolicyStatus(context, policies, { registry, types: builtinTypes() }, env),
    'clusterrole-aggregation-controller': () => startClusterRoleAggregation(context, clusterRoles, env),
    'persistentvolumeclaim-protection-controller': () => startClaimProtection(context, { claims, pods }, env),
    'service-cidr-controller': () => startServiceCidrs(context, { serviceCidrs, addresses }, env),
    'persistentvolume-protection-controller': () => startVolumeProtection(context, volumes, env),
    'volumeattributesclass-protection-controller': () =>
      startAttributesClassProtection(context, { classes, claims, volumes }, env),
    ...(isServed(migrations) &&
      migrates && {
        'storage-version-migrator-controller': () =>
          startStorageMigration(context, registry, { migrations, definitions }, env),
      }),
  }
}

export const isServed = ({ versions }: Kind): boolean => versions.some(({ served }) => served)
