// Starts a server in phases:
//
//   check the options → open the store → certificates → system objects → access → CRDs → listen → controllers
//
// and stops it so that nothing that was acknowledged is lost:
//
//   readiness off → listeners stop accepting → watches end → requests are answered → controllers → webhooks → store

import { setTimeout as sleep } from 'node:timers/promises'
import { type AdmissionCalls, compileFunctions, createAdmissionCalls } from '../admission/functions.js'
import { startWebhookSources } from '../admission/webhook-sources.js'
import { startAggregator } from '../aggregation/aggregator.js'
import { KEYS_PATH } from '../auth/tokens.js'
import { SYSTEM_CLOCK } from '../base/clock.js'
import { KUBERNETES_VERSION } from '../base/kubernetes-version.js'
import type { Logger } from '../base/logger.js'
import { createMetrics } from '../base/metrics.js'
import { packageVersion } from '../base/package-version.js'
import { STRICT_IPS } from '../builtin/service-addresses.js'
import { createConsole } from '../console/console.js'
import { signInLink } from '../console/sign-in-link.js'
import { createNamesLock, startDefinitions } from '../controllers/definitions.js'
import { serviceAddresses } from '../controllers/service-allocation.js'
import type { Registry } from '../kinds/registry.js'
import { isGateOn } from '../meta/feature-gates.js'
import { startKindInformer } from '../objects/informer.js'
import { createLister } from '../objects/lister.js'
import { createObjectStores } from '../objects/object-stores.js'
import { createRuleMetrics, RuleCompiler } from '../schema/rules.js'
import { HISTORY_MS } from '../storage/open-store.js'
import { createApiContext } from '../verbs/api-context.js'
import { connectSubresources, podSubresources } from '../verbs/subresources.js'
import { createWebhooks } from '../webhook/client.js'
import type { Simulation } from '../workloads/start-workloads.js'
import { countedSink, createAudit } from './audit/audit-log.js'
import { openAudit } from './audit/open-audit.js'
import { registerBuildMetrics } from './observability/build-metrics.js'
import { registerCacheMetrics } from './observability/cache-metrics.js'
import { createHealthMetrics } from './observability/health-metrics.js'
import { createServerLogger } from './observability/logging.js'
import { registerProcessMetrics } from './observability/process-metrics.js'
import { registerStorageMetrics } from './observability/storage-metrics.js'
import { allowsEverything } from './options/access/authorization.js'
import { ADMINISTRATOR } from './options/administrator.js'
import { migratesStorage, UNSAFE_DELETION } from './options/effective-gates.js'
import { hasPriorityAndFairness } from './options/limits.js'
import type { ServerOptions } from './options/server-options.js'
import { START_TIMEOUT_MS } from './options/storage.js'
import { startPolicyObjects } from './policy-objects.js'
import { openAccess } from './startup/access/access.js'
import { anonymousPaths, createAuthenticate } from './startup/access/authentication.js'
import { type Authorities, createClientCertificates } from './startup/access/client-certificates.js'
import { followCertificates } from './startup/access/followed-certificates.js'
import { checkAdmissionPlugins, readAdmissionConfiguration } from './startup/admission-plugins.js'
import { createApi } from './startup/api.js'
import { bootstrap, bootstrapServiceCidr, cidrsOf, keptObjects } from './startup/bootstrap.js'
import { componentPages } from './startup/component-pages.js'
import { componentStatuses } from './startup/component-statuses.js'
import { createServerContext } from './startup/context.js'
import { createControllers } from './startup/controllers.js'
import { NO_FLOW_CONTROL, startFlowControl } from './startup/flowcontrol/flow-control.js'
import { liveChecks } from './startup/health-checks.js'
import { createBuiltinRegistry, DEFINITIONS, requireKind } from './startup/kinds.js'
import { clientUrl, openListeners } from './startup/listeners.js'
import type { AuthenticationInfo } from './startup/own-config-maps.js'
import { createPhases } from './startup/phases.js'
import { prepareServerTls } from './startup/server-tls.js'
import { serviceFinder } from './startup/service-finder.js'
import { receiveRequests } from './startup/shared-listeners.js'
import { openServerStore, startEncryption } from './startup/store.js'
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

const DEFAULT_PORT = 6443
const ADMISSION_GROUP = 'admissionregistration.k8s.io'
/** How often watches are ended while requests are answered: a watch may begin after the others were ended. */
const DRAIN_MS = 20

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
        functions: compileFunctions(options.admission.functions, webhookKind, calls),
        configurations: readAdmissionConfiguration(options.admission),
      }
    })

    const encryption = await phases.run(
      'encryption',
      () => startEncryption(options, { registry, metrics, log, now: clock.now }),
      started => started?.stop(),
    )
    const store = await phases.run(
      'open the store',
      () => openServerStore(options, { encryption, registry, metrics, log }),
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
        serviceCidrs: requireKind(registry, 'networking.k8s.io', 'ServiceCIDR'),
      }
      const allocated = serviceAddresses(system, store, kinds, {
        range: serviceRange,
        nodePorts: options.api.nodePorts,
        isStrict: isGateOn(options.api.featureGates, STRICT_IPS),
      })
      registry.put(allocated.kind)
      // Before the addresses of Services, which are of its ranges.
      if (!hooks?.isBootstrapped) await bootstrapServiceCidr(system, kinds.serviceCidrs, bootstrapOptions)
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
    const context = createServerContext({
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
        () => openAudit(audit, { webhooks, metrics, log, random: env.random, now: clock.now }),
        opened => opened.close(),
      ))
    registerProcessMetrics(metrics)
    registerBuildMetrics(metrics, options.api.featureGates)
    registerStorageMetrics(metrics, store, registry, options.storage)
    registerCacheMetrics(metrics, objects)
    /** The port is known once the server listens; requests cannot come before that. */
    const state = { isStopping: false, address: '' }
    const health = {
      checkStore: () => store.check(),
      isStopping: () => state.isStopping,
      encryptionChecks: encryption?.checks ?? {},
      isInSync: () => definitions.isComplete && policies.isComplete && webhookSources.isComplete,
    }
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
    const clientCertificates = createClientCertificates(
      { clientCa: tls?.clientCa ?? '', proxyCa: authentication.requestHeader?.ca ?? '' },
      authentication.requestHeader?.allowedNames,
    )
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
        certificates: clientCertificates,
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
      healthMetrics: createHealthMetrics(options.metrics),
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
    let published: AuthenticationInfo = { clientCa: tls?.clientCa, requestHeader: authentication.requestHeader }
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
          defaultCidrs: cidrsOf(serviceRange),
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
          authentication: () => published,
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
    if (serving.https && tls) {
      const users = {
        setCertificates: listeners.setCertificates,
        trust(authorities: Authorities) {
          clientCertificates.trust(authorities)
          const { requestHeader } = published
          const changed = requestHeader && { ...requestHeader, ca: authorities.proxyCa }
          published = { clientCa: authorities.clientCa, requestHeader: changed }
          controllers.publishAuthentication()
        },
      }
      const { https } = serving
      await phases.run(
        'follow certificates',
        () => followCertificates(https, authentication, tls, users, log),
        followed => followed?.stop(),
      )
    }
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
