// Starts a server in phases:
//
//   check the options → open the store → certificates → system objects → access → CRDs → listen → controllers
//
// and stops it so that nothing that was acknowledged is lost:
//
//   readiness off → listeners stop accepting → watches end → requests are answered → controllers → webhooks → store

import { setTimeout as sleep } from 'node:timers/promises'
import type { PluginConfigurations } from '../admission/configuration.js'
import {
  type AdmissionCalls,
  compileFunctions,
  createAdmissionCalls,
  type FunctionPlugins,
} from '../admission/functions.js'
import { createServerAdmission } from '../admission/plugins.js'
import { startWebhookSources, type WebhookSources } from '../admission/webhook-sources.js'
import { startAggregator } from '../aggregation/aggregator.js'
import { permitBy } from '../auth/authorizer.js'
import { KEYS_PATH } from '../auth/tokens.js'
import { andThen } from '../base/awaitable.js'
import { SYSTEM_CLOCK } from '../base/clock.js'
import { KUBERNETES_VERSION } from '../base/kubernetes-version.js'
import type { Logger } from '../base/logger.js'
import { createMetrics, type MetricsRegistry } from '../base/metrics.js'
import { packageVersion } from '../base/package-version.js'
import { STRICT_IPS } from '../builtin/service-addresses.js'
import { createConsole } from '../console/console.js'
import { signInLink } from '../console/sign-in-link.js'
import { createNamesLock, startDefinitions } from '../controllers/definitions.js'
import { serviceAddresses } from '../controllers/service-allocation.js'
import { STORED_DEFINITION } from '../crd/stored-form.js'
import type { Registry } from '../kinds/registry.js'
import { isGateOn } from '../meta/feature-gates.js'
import { createEncodedStore } from '../objects/encoded-store.js'
import { type KindInformer, startKindInformer } from '../objects/informer.js'
import { createLister } from '../objects/lister.js'
import { createObjectStores, type ObjectStores } from '../objects/object-stores.js'
import { createRuleMetrics, RuleCompiler } from '../schema/rules.js'
import { HISTORY_MS, openStore, type StorageOptions } from '../storage/open-store.js'
import type { Store } from '../storage/store.js'
import { builtinTypes } from '../types/type-table.js'
import { type ApiContext, createApiContext } from '../verbs/api-context.js'
import { connectSubresources, podSubresources } from '../verbs/subresources.js'
import { serverObjects } from '../verbs/system-writes.js'
import { createWebhooks, type Webhooks } from '../webhook/client.js'
import type { Simulation } from '../workloads/start-workloads.js'
import { countedSink, createAudit } from './audit/audit-log.js'
import { openLogFile } from './audit/log-file.js'
import { registerBuildMetrics } from './observability/build-metrics.js'
import { registerCacheMetrics } from './observability/cache-metrics.js'
import { createServerLogger } from './observability/logging.js'
import { registerProcessMetrics } from './observability/process-metrics.js'
import { measureStore, registerStorageMetrics } from './observability/storage-metrics.js'
import { allowsEverything } from './options/access/authorization.js'
import { ADMINISTRATOR } from './options/administrator.js'
import { admissionWithGates, migratesStorage } from './options/effective-gates.js'
import { hasPriorityAndFairness } from './options/limits.js'
import type { ServerOptions } from './options/server-options.js'
import { START_TIMEOUT_MS } from './options/storage.js'
import { type StartedPolicies, startPolicyObjects } from './policy-objects.js'
import { type AccessControl, openAccess } from './startup/access/access.js'
import { anonymousPaths, createAuthenticate } from './startup/access/authentication.js'
import { checkAdmissionPlugins, readAdmissionConfiguration } from './startup/admission-plugins.js'
import { createApi } from './startup/api.js'
import { bootstrap, keptObjects } from './startup/bootstrap.js'
import { componentPages } from './startup/component-pages.js'
import { componentStatuses } from './startup/component-statuses.js'
import { createControllers } from './startup/controllers.js'
import { NO_FLOW_CONTROL, startFlowControl } from './startup/flowcontrol/flow-control.js'
import { liveChecks } from './startup/health-checks.js'
import { createBuiltinRegistry, DEFINITIONS, requireKind } from './startup/kinds.js'
import { clientUrl, openListeners } from './startup/listeners.js'
import { createPhases } from './startup/phases.js'
import { prepareServerTls } from './startup/server-tls.js'
import { serviceFinder } from './startup/service-finder.js'
import { receiveRequests } from './startup/shared-listeners.js'
import { withStrictTransportSecurity } from './startup/strict-transport-security.js'
import { startWhenStoreAnswers } from './startup/wait-for-store.js'
import { registerWorkloads } from './startup/workloads.js'
import { createFrontProxy } from './tls/front-proxy.js'
import type { Access } from './tls/kubeconfig.js'
import { shareAuthority } from './tls/shared-authority.js'

export { clientUrl } from './startup/listeners.js'
export { prepareServerTls } from './startup/server-tls.js'
export { openSharedListeners } from './startup/shared-listeners.js'

export interface Server {
  /** https, or plain http where only that is served. */
  readonly url: string
  readonly httpUrl: string | undefined
  /** The access of the administrator, unless it is by a token of the options. */
  readonly access: Access
  /** What admission functions were asked. */
  readonly admission: AdmissionCalls
  /** The kinds that are served. */
  readonly registry: Registry
  /** A link that signs the administrator in to the console, once. Absent if the console is not served. */
  readonly consoleLink: (() => string) | undefined
  /** The simulation of workloads, once it has started; undefined if there is none. */
  readonly simulation: Promise<Simulation> | undefined
  stop(): Promise<void>
}

const UNSAFE_DELETION = 'AllowUnsafeMalformedObjectDeletion'
const DEFAULT_PORT = 6443
const ADMISSION_GROUP = 'admissionregistration.k8s.io'
/** How often watches are ended while requests are answered: a watch may begin after the others were ended. */
const DRAIN_MS = 20
const REPLACED_PAUSE_MS = 10_000

/**
 * Rejects when something cannot be opened, such as the data directory or the port, or when the start is aborted; nothing
 * is left running then. While etcd does not answer, it waits as long as the options say.
 */
export async function startServer(options: ServerOptions, signal?: AbortSignal): Promise<Server> {
  const log = await createServerLogger(options.logging)
  const { storage } = options
  const limitMs = storage.kind === 'etcd' ? (storage.startTimeoutMs ?? START_TIMEOUT_MS) : 0
  return startWhenStoreAnswers(() => startOnce(options, log, signal), { limitMs, log, signal })
}

async function startOnce(options: ServerOptions, log: Logger, signal: AbortSignal | undefined): Promise<Server> {
  const { authentication, authorization, limits, logging, serving } = options
  const { serviceRange } = options.api
  const { hooks } = options
  const clock = options.clock ?? SYSTEM_CLOCK
  const metrics = createMetrics(options.metrics)
  const env = { log, metrics, clock, random: Math.random }
  const ruleCompiler = new RuleCompiler(createRuleMetrics(metrics))
  const phases = createPhases(log, signal)
  try {
    const calls = createAdmissionCalls()
    const { registry, functions, configurations } = await phases.run('check the options', () => {
      const warnings = checkAdmissionPlugins(options.admission)
      const builtin = createBuiltinRegistry(options.api, ruleCompiler)
      for (const warning of [...warnings, ...builtin.warnings]) log.warn(warning)
      const webhookKind = requireKind(builtin.registry, ADMISSION_GROUP, 'ValidatingWebhookConfiguration')
      return {
        registry: builtin.registry,
        functions: compileFunctions(options.admission.functions, webhookKind, calls.add),
        configurations: readAdmissionConfiguration(options.admission),
      }
    })

    const store = await phases.run(
      'open the store',
      async () => inEtcdEncoding(measureStore(await openStore(storageOf(options, log)), metrics, registry), options),
      opened => opened.close(),
    )

    const tls = hooks?.listeners
      ? hooks.listeners.tls
      : await phases.run('certificates', () =>
          prepareServerTls(options, store.embedded ? undefined : shareAuthority(store)),
        )

    const objects = await phases.run(
      'objects',
      () => createObjectStores(store, { wrapsReadErrors: isGateOn(options.api.featureGates, UNSAFE_DELETION) }),
      stores => stores.close(),
    )

    const bootstrapOptions = { serviceRange, port: serving.https?.port || DEFAULT_PORT }
    const addresses = await phases.run('system objects', async () => {
      // Admission has no say in what the server itself creates, and it needs objects that are created here.
      const system = createApiContext({ store, objects, now: clock.now })
      const kinds = {
        services: requireKind(registry, '', 'Service'),
        addresses: requireKind(registry, 'networking.k8s.io', 'IPAddress'),
      }
      const allocated = serviceAddresses(system, store, kinds, {
        range: serviceRange,
        nodePorts: options.api.nodePorts,
        isStrict: isGateOn(options.api.featureGates, STRICT_IPS),
      })
      registry.put(allocated.kind)
      await allocated.repair()
      if (!hooks?.isBootstrapped) await bootstrap(system, registry, bootstrapOptions)
      return allocated
    })

    const findService = serviceFinder(createLister(registry, objects))
    const webhooks = await phases.run(
      'webhooks',
      () =>
        createWebhooks({
          hosts: options.api.webhookHosts,
          findService,
          beforeCall: hooks?.beforeWebhookCall,
        }),
      client => client.close(),
    )
    const access = await phases.run(
      'access',
      () =>
        openAccess(store, createApiContext({ store, objects, now: clock.now }), registry, options, webhooks, {
          metrics,
          log,
        }),
      opened => opened.stop(),
    )
    const flows = await phases.run(
      'priority and fairness',
      () =>
        hasPriorityAndFairness(limits)
          ? startFlowControl({
              objects,
              store,
              registry,
              metrics,
              log,
              limits: limits.requests,
              watchList: isGateOn(options.api.featureGates, 'WatchList'),
            })
          : NO_FLOW_CONTROL,
      started => started.stop(),
    )
    const quotas = await phases.run(
      'quotas',
      () => startKindInformer(objects, requireKind(registry, '', 'ResourceQuota'), () => true),
      started => started.stop(),
    )
    const policies = await phases.run(
      'admission policies',
      () => startPolicyObjects(objects, registry),
      started => started.stop(),
    )
    const webhookSources = await phases.run(
      'webhook configurations',
      () => {
        const kinds = {
          mutating: requireKind(registry, ADMISSION_GROUP, 'MutatingWebhookConfiguration'),
          validating: requireKind(registry, ADMISSION_GROUP, 'ValidatingWebhookConfiguration'),
        }
        return startWebhookSources(objects, kinds, log)
      },
      started => started.stop(),
    )
    const context = createContext({
      store,
      objects,
      registry,
      access,
      quotas,
      policies,
      options,
      now: clock.now,
      webhookClient: webhooks,
      webhookSources,
      metrics,
      functions,
      configurations,
    })

    const definitions = await phases.run(
      'CRDs',
      () => {
        const kind = requireKind(registry, DEFINITIONS.group, DEFINITIONS.kind)
        const converters = { webhooks, functions: options.api.conversions, ruleCompiler }
        const namesLock = store.embedded ? undefined : createNamesLock(store)
        return startDefinitions(context, registry, kind, { ...converters, namesLock }, env)
      },
      started => started.stop(),
    )

    const { proxyClient } = options.api
    const frontProxy = proxyClient || authentication.requestHeader ? undefined : createFrontProxy(store)
    const aggregator = await phases.run(
      'extension servers',
      () =>
        startAggregator({
          objects,
          kind: requireKind(registry, 'apiregistration.k8s.io', 'APIService'),
          hosts: options.api.webhookHosts,
          findService,
          forwardsRedirects: options.api.forwardsRedirects,
          clientCertificate: async () => (frontProxy ? (await frontProxy()).client : proxyClient),
          env,
        }),
      started => started.stop(),
    )

    const { audit } = options
    const auditLog =
      audit &&
      (await phases.run(
        'audit log',
        () => openLogFile(audit.log, clock.now),
        opened => opened.close(),
      ))
    registerProcessMetrics(metrics)
    registerBuildMetrics(metrics, options.api.featureGates)
    registerStorageMetrics(metrics, store, registry, options.storage)
    registerCacheMetrics(metrics, objects)
    /** The port is known once the server listens; requests cannot come before that. */
    const state = { isStopping: false, address: '' }
    const health = { checkStore: () => store.check(), isStopping: () => state.isStopping }
    const console =
      options.console &&
      createConsole({
        ...options.console,
        tokens: access.tokens,
        audiences: access.authority.audiences,
        about: {
          version: KUBERNETES_VERSION,
          binnacle: packageVersion(),
          testing: hooks?.paths?.has('/binnacle/testing/*') ?? false,
        },
        registry,
        authorizer: access.authorizer,
        metrics,
        storage: { kind: options.storage.kind, historySeconds: (options.storage.historyMs ?? HISTORY_MS) / 1000 },
        checks: () => liveChecks(health),
        api: () => api,
        log,
      })
    const components = requireKind(registry, '', 'ComponentStatus')
    registry.put({ ...components, computed: componentStatuses(() => store.check()) })
    const api = createApi({
      registry,
      context,
      definitions,
      access,
      aggregator,
      virtualResources: [
        ...access.virtualResources,
        ...podSubresources(context, {
          pods: requireKind(registry, '', 'Pod'),
          budgets: requireKind(registry, 'policy', 'PodDisruptionBudget'),
        }),
        ...connectSubresources(
          context,
          {
            pods: requireKind(registry, '', 'Pod'),
            nodes: requireKind(registry, '', 'Node'),
            services: requireKind(registry, '', 'Service'),
            endpoints: requireKind(registry, '', 'Endpoints'),
          },
          ({ user, info: { group, resource, subresource, namespace, name } }) =>
            access.authorizer.authorize(user, { verb: 'create', group, resource, subresource, namespace, name }),
        ),
      ],
      authenticate: createAuthenticate({
        tokens: access.tokens,
        audiences: access.authority.audiences,
        anonymous: anonymousPaths(authentication, authorization),
        requestHeader: authentication.requestHeader,
        clientCa: tls?.clientCa ?? '',
        ofSession: console?.authenticate,
      }),
      flowControl: flows.control,
      audit: audit && auditLog && createAudit(audit.policy, countedSink(auditLog, metrics), clock.now),
      openApiEnums: isGateOn(options.api.featureGates, 'OpenAPIEnums'),
      constrainedImpersonation: isGateOn(options.api.featureGates, 'ConstrainedImpersonation'),
      cbor: isGateOn(options.api.featureGates, 'CBORServingAndStorage'),
      limits,
      verbosity: logging.verbosity,
      ...health,
      hooks,
      pages: componentPages({
        gates: options.api.featureGates,
        flags: options.flags ?? {},
        startedAt: clock.now(),
        now: clock.now,
      }),
      consolePaths: console?.paths,
      observe: console?.observe,
      serverAddress: () => state.address,
      jwksUri: () => authentication.serviceAccounts.jwksUri ?? `https://${externalAddress()}${KEYS_PATH}`,
      log,
      metrics,
    })
    const externalAddress = (): string =>
      serving.externalHostname === undefined
        ? state.address
        : `${serving.externalHostname}:${state.address.split(':').at(-1)}`

    const { started: simulation, registered: workloads } = registerWorkloads({
      context,
      registry,
      env,
      options: options.workloads,
      controllers: options.controllers.controllers,
    })
    // Created before the listeners and started after them, because phases are undone in the reverse order: requests
    // are answered before the controllers stop.
    const controllers = await phases.run(
      'controllers',
      () => {
        const virtualVersions = access.virtualResources.map(({ apiVersion }) => apiVersion)
        return createControllers({
          store,
          context,
          systemContext: createApiContext({ store, objects, now: clock.now }),
          addresses,
          kept: keptObjects(registry, bootstrapOptions),
          registry,
          definitions,
          aggregator,
          leaderElection: options.leaderElection,
          hasFlowControl: flows.control !== undefined,
          options: options.controllers,
          serving,
          ca: tls?.ca,
          authority: access.authority,
          migrates: migratesStorage(options.api.featureGates),
          authentication: { clientCa: tls?.clientCa, requestHeader: authentication.requestHeader },
          frontProxy,
          virtualVersions,
          workloads,
          env,
        })
      },
      created => created.stop(),
    )
    const handle = withStrictTransportSecurity(
      console?.before(api.handle) ?? api.handle,
      serving.strictTransportSecurity,
    )
    const listeners = await phases.run(
      'listen',
      () =>
        hooks?.listeners
          ? receiveRequests(hooks.listeners, handle)
          : openListeners(serving, tls, handle, { readers: api.readers, isOpen: allowsEverything(authorization) }),
      async opened => {
        const closing = opened.close()
        api.endWatches()
        const again = setInterval(() => api.endWatches(), DRAIN_MS)
        await closing.finally(() => clearInterval(again))
      },
    )
    const server = clientUrl(listeners.url)
    const sessions = options.console?.sessions
    state.address = new URL(server).host
    controllers.start(listeners.httpsUrl)
    log.info('serving', { url: listeners.url })

    return {
      url: listeners.url,
      httpUrl: listeners.httpUrl,
      admission: calls,
      simulation,
      registry,
      consoleLink: sessions && (() => signInLink(server, sessions.createCode({ user: ADMINISTRATOR }))),
      access: { server, ...(listeners.httpsUrl && { ca: tls!.ca, client: tls!.admin }) },
      async stop() {
        if (!state.isStopping) log.info('stopping')
        state.isStopping = true
        if (serving.shutdownDelayMs) await sleep(serving.shutdownDelayMs)
        await phases.undo()
        log.info('stopped')
      },
    }
  } catch (error) {
    // The reason of the failed start is reported; an error of the clean-up is only logged.
    await phases
      .undo()
      .catch((failure: unknown) => log.error('the clean-up of a failed start failed', { error: failure }))
    throw error
  }
}

/** Every watch that finds it reports that the data was replaced; one line in a while is enough. */
function storageOf({ storage }: ServerOptions, log: Logger): StorageOptions {
  if (storage.kind !== 'etcd') return storage
  let notBefore = 0
  const onReplaced = (reason: string): void => {
    if (performance.now() < notBefore) return
    notBefore = performance.now() + REPLACED_PAUSE_MS
    log.error('etcd has other data than before: everything is read again; restart all replicas after a restore', {
      reason,
    })
  }
  return { ...storage, onReplaced }
}

/** On etcd, objects are encoded as kube-apiserver encodes them; in the server's own stores they are JSON. */
function inEtcdEncoding(store: Store, { storage, api }: ServerOptions): Store {
  if (storage.kind !== 'etcd') return store
  return createEncodedStore(store, {
    types: builtinTypes(),
    protobuf: api.storageMediaType === 'application/vnd.kubernetes.protobuf',
    cbor: isGateOn(api.featureGates, 'CBORServingAndStorage'),
    storedForms: [STORED_DEFINITION],
  })
}

interface ContextParts {
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

/** What requests work with: the objects, and admission, which decides with the authorizer. */
function createContext(parts: ContextParts): ApiContext {
  const { store, objects, registry, access, quotas, policies, options, now } = parts
  const { webhookClient, webhookSources, metrics, functions, configurations } = parts
  const namespaces = requireKind(registry, '', 'Namespace')
  const quotaKind = requireKind(registry, '', 'ResourceQuota')
  const authorizer = () => access.authorizer
  const admission = createServerAdmission(
    {
      objects: createLister(registry, objects),
      // Its labels, and whether it is being deleted, are kept beside its entry, because every create reads them.
      findNamespace: name => andThen(objects.objectStore(namespaces).get('', name), entry => entry?.attributes.data),
      authorizer,
      rules: () => access.rules,
      changeQuotaStatus: (namespace, name, change) =>
        serverObjects(context).change(quotaKind, namespace, name, change, 'status'),
      findKind: (group, kind) => registry.findKind(group, kind),
      validatingPolicies: policies.validating,
      mutatingPolicies: policies.mutating,
      hasQuotas: namespace => !quotas.all(namespace)[Symbol.iterator]().next().done,
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
  const context = createApiContext({ store, objects, now, admission, permit: permitBy(authorizer), gates })
  return context
}
