// What requests work with: the objects of a server, and admission, which decides with the authorizer.
import type { PluginConfigurations } from '../../admission/configuration.js'
import type { FunctionPlugins } from '../../admission/functions.js'
import { createServerAdmission } from '../../admission/plugins.js'
import type { WebhookSources } from '../../admission/webhook-sources.js'
import { permitBy } from '../../auth/authorizer.js'
import { andThen } from '../../base/awaitable.js'
import type { MetricsRegistry } from '../../base/metrics.js'
import type { Registry } from '../../kinds/registry.js'
import { isGateOn } from '../../meta/feature-gates.js'
import type { KindInformer } from '../../objects/informer.js'
import { createLister } from '../../objects/lister.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { ObjectStores } from '../../objects/object-stores.js'
import type { Store } from '../../storage/store.js'
import { type ApiContext, createApiContext, type Namespaces } from '../../verbs/api-context.js'
import { serverObjects } from '../../verbs/system-writes.js'
import type { Webhooks } from '../../webhook/client.js'
import { admissionWithGates, UNSAFE_DELETION } from '../options/effective-gates.js'
import type { ServerOptions } from '../options/server-options.js'
import type { StartedPolicies } from '../policy-objects.js'
import type { AccessControl } from './access/access.js'
import { requireKind } from './kinds.js'

export interface ContextParts {
  readonly store: Store
  readonly objects: ObjectStores
  readonly registry: Registry
  readonly access: AccessControl
  readonly quotas: KindInformer<unknown>
  readonly policies: StartedPolicies
  readonly options: ServerOptions
  readonly now: () => number
  readonly webhookClient: Webhooks
  readonly webhookSources: WebhookSources
  readonly metrics: MetricsRegistry
  readonly functions: FunctionPlugins
  readonly configurations: PluginConfigurations
}

export function createServerContext(parts: ContextParts): ApiContext {
  const { store, objects, registry, access, quotas, policies, options, now } = parts
  const { webhookClient, webhookSources, metrics, functions, configurations } = parts
  const namespaces = requireKind(registry, '', 'Namespace')
  const quotaKind = requireKind(registry, '', 'ResourceQuota')
  const authorizer = () => access.authorizer
  const admission = createServerAdmission(
    {
      objects: createLister(registry, objects),
      // Its labels, and whether it is being deleted, are kept beside its entry, because every create reads them. As in
      // kube-apiserver, a namespace that is known here is not read again.
      findNamespace(name) {
        return andThen(knownIn(objects.objectStore(namespaces), name), entry => entry?.attributes.data)
      },
      authorizer,
      rules: () => access.rules,
      changeQuotaStatus: (namespace, name, change) =>
        serverObjects(context).change(quotaKind, namespace, name, change, 'status'),
      findKind: (group, kind) => registry.findKind(group, kind),
      validatingPolicies: policies.validating,
      mutatingPolicies: policies.mutating,
      hasQuotas: namespace => !quotas.isComplete || !quotas.all(namespace)[Symbol.iterator]().next().done,
      now,
      webhookClient,
      webhookSources,
      metrics,
      functions,
      configurations,
      featureGates: options.api.featureGates,
    },
    admissionWithGates(options.admission, options.api.featureGates),
  )
  const gates = {
    unsafeDeletion: isGateOn(options.api.featureGates, UNSAFE_DELETION),
    watchList: isGateOn(options.api.featureGates, 'WatchList'),
    watchCache: options.api.watchCache,
  }
  const context = createApiContext({
    store,
    objects,
    now,
    admission,
    permit: permitBy(authorizer),
    gates,
    namespaces: knownNamespaces(objects.objectStore(namespaces)),
  })
  return context
}

/** As this process knows it, if it does. A create fails if the namespace has changed since. */
const knownIn = (store: ObjectStore, name: string) => store.getKnown('', name) ?? store.get('', name)

const knownNamespaces = (store: ObjectStore): Namespaces => ({
  known: name => knownIn(store, name),
  latest: async name => store.get('', name),
})
