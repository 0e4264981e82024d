// Starts a server in phases:
//
//   check the options → open the store → certificates → system objects → access → CRDs → listen → controllers
//
// and stops it so that nothing that was acknowledged is lost:
//
//   readiness off → its address out of the Endpoints → listeners stop accepting → watches end → requests are answered →
//   controllers → webhooks → store

import { setTimeout as sleep } from 'node:timers/promises'
import type { AdmissionCalls } from '../admission/functions.js'
import { SYSTEM_CLOCK } from '../base/clock.js'
import type { Dial } from '../base/dial.js'
import type { Logger } from '../base/logger.js'
import { createMetrics } from '../base/metrics.js'
import { signInLink } from '../console/sign-in-link.js'
import type { ApiHandler, Tracing } from '../http/handler.js'
import { DEFAULT_LIMITS } from '../http/limits.js'
import type { TlsCertificates } from '../http/listener.js'
import type { Registry } from '../kinds/registry.js'
import { isGateOn } from '../meta/feature-gates.js'
import { createRuleMetrics, RuleCompiler } from '../schema/rules.js'
import { createApiContext } from '../verbs/api-context.js'
import type { Simulation } from '../workloads/start-workloads.js'
import { registerBuildMetrics } from './observability/build-metrics.js'
import { registerCacheMetrics } from './observability/cache-metrics.js'
import { createServerLogger } from './observability/logging.js'
import { registerProcessMetrics } from './observability/process-metrics.js'
import { registerStorageMetrics } from './observability/storage-metrics.js'
import type { Verbosity } from './observability/verbosity.js'
import { allowsEverything } from './options/access/authorization.js'
import { ADMINISTRATOR } from './options/administrator.js'
import { migratesStorage } from './options/effective-gates.js'
import type { ServerOptions } from './options/server-options.js'
import { START_TIMEOUT_MS } from './options/storage.js'
import type { Authorities } from './startup/access/client-certificates.js'
import { followCertificates } from './startup/access/followed-certificates.js'
import { createControllers } from './startup/controllers.js'
import { openFoundation, type ServerEnv } from './startup/foundation.js'
import { clientUrl, type Listeners, openListeners } from './startup/listeners/listeners.js'
import { receiveRequests } from './startup/listeners/shared-listeners.js'
import { createPhases, type Phases } from './startup/phases.js'
import { startRequestParts } from './startup/request-parts.js'
import { createServedApi, type RunningState } from './startup/served-api.js'
import { cidrsOf, keptObjects } from './startup/system-objects/bootstrap.js'
import type { AuthenticationInfo } from './startup/system-objects/own-config-maps.js'
import { startWhenStoreAnswers } from './startup/wait-for-store.js'
import { registerWorkloads } from './startup/workloads.js'
import type { Access } from './tls/kubeconfig.js'
import type { TracingOptions } from './tracing/configuration.js'

export { clientUrl } from './startup/listeners/listeners.js'
export { prepareServerTls } from './startup/listeners/server-tls.js'
export { openSharedListeners } from './startup/listeners/shared-listeners.js'

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
/** How often watches are ended while requests are answered: a watch may begin after the others were ended. */
const DRAIN_MS = 20

/**
 * Rejects when something cannot be opened, such as the data directory or the port, or when the start is aborted; nothing
 * is left running then. While etcd does not answer, it waits as long as the options say.
 */
export async function startServer(options: ServerOptions, signal?: AbortSignal): Promise<Server> {
  const verbosity: Verbosity = { level: options.logging.verbosity }
  const log = await createServerLogger(options.logging, verbosity)
  const { storage } = options
  const limitMs = storage.kind === 'etcd' ? (storage.startTimeoutMs ?? START_TIMEOUT_MS) : 0
  return startWhenStoreAnswers(() => startOnce(options, { log, verbosity }, signal), { limitMs, log, signal })
}

async function startOnce(
  options: ServerOptions,
  { log, verbosity }: { readonly log: Logger; readonly verbosity: Verbosity },
  signal: AbortSignal | undefined,
): Promise<Server> {
  const { authentication, serving } = options
  const metrics = createMetrics(options.metrics)
  const { serviceRange, featureGates } = options.api
  const bootstrapOptions = { serviceRange, port: serving.https?.port || DEFAULT_PORT, featureGates }
  const phases = createPhases(log, signal)
  try {
    const env: ServerEnv = {
      log,
      verbosity,
      metrics,
      clock: options.clock ?? SYSTEM_CLOCK,
      random: Math.random,
      ruleCompiler: new RuleCompiler(createRuleMetrics(metrics)),
      tracing: options.tracing && (await startTracing(phases, options.tracing, options.egress?.controlPlane, log)),
    }
    const foundation = await openFoundation(phases, options, bootstrapOptions, env)
    const { registry, store, objects, tls } = foundation
    const parts = await startRequestParts(phases, options, foundation, env)
    const { access, context } = parts
    registerProcessMetrics(metrics)
    registerBuildMetrics(metrics, featureGates, options.api.versions)
    registerStorageMetrics(metrics, store, registry, options.storage)
    registerCacheMetrics(metrics, objects)
    const running: RunningState = { isStopping: false, address: '' }
    const { api, clientCertificates, handle } = createServedApi(options, foundation, parts, running, env)

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
      () =>
        createControllers({
          ...parts,
          store,
          systemContext: createApiContext({ store, objects, now: env.clock.now }),
          addresses: foundation.addresses,
          defaultCidrs: cidrsOf(options.api.serviceRange),
          kept: keptObjects(registry, bootstrapOptions),
          registry,
          leaderElection: options.leaderElection,
          coordination: options.coordination,
          requestTimeoutMs: options.limits.requests?.requestTimeoutMs ?? DEFAULT_LIMITS.requestTimeoutMs,
          hasFlowControl: parts.flowControl !== undefined,
          options: options.controllers,
          serving,
          ca: tls?.ca,
          authority: access.authority,
          migrates: migratesStorage(options.api.featureGates),
          electsLeaders: isGateOn(options.api.featureGates, 'CoordinatedLeaderElection'),
          authentication: () => published,
          virtualVersions: access.virtualResources.map(({ apiVersion }) => apiVersion),
          workloads,
          env,
        }),
      created => created.stop(),
    )
    const listeners = await phases.run(
      'listen',
      () =>
        options.hooks?.listeners
          ? receiveRequests(options.hooks.listeners, handle)
          : openListeners(serving, tls, handle, {
              readers: api.readers,
              isOpen: allowsEverything(options.authorization),
            }),
      opened => endRequests(opened, api),
    )
    parts.loopback.listensAt(clientUrl(listeners.url), tls?.options.cert)
    if (serving.https && tls) {
      const users = {
        setCertificates(certificates: TlsCertificates) {
          listeners.setCertificates(certificates)
          parts.loopback.listensAt(clientUrl(listeners.url), certificates.cert)
        },
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
    running.address = new URL(server).host
    controllers.start(listeners.httpsUrl)
    log.info('serving', { url: listeners.url })

    return {
      url: listeners.url,
      httpUrl: listeners.httpUrl,
      admission: foundation.calls,
      simulation,
      registry,
      consoleLink: sessions && (() => signInLink(server, sessions.createCode({ user: ADMINISTRATOR }))),
      access: { server, ...(listeners.httpsUrl && { ca: tls!.ca, client: tls!.admin }) },
      async stop() {
        if (!running.isStopping) log.info('stopping')
        running.isStopping = true
        await controllers.withdrawEndpoints()
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

/** Stops accepting connections, ends watches, and resolves when the other requests are answered. */
async function endRequests(listeners: Pick<Listeners, 'close'>, api: ApiHandler): Promise<void> {
  const closing = listeners.close()
  api.endWatches()
  const again = setInterval(() => api.endWatches(), DRAIN_MS)
  await closing.finally(() => clearInterval(again))
}

/** Loaded only where requests are traced. Spans are sent until everything else has stopped. */
async function startTracing(
  phases: Phases,
  options: TracingOptions,
  dial: Dial | undefined,
  log: Logger,
): Promise<Tracing> {
  const { createSpanExporter } = await import('./tracing/exporter.js')
  const { sink } = await phases.run(
    'tracing',
    () => createSpanExporter(options, log, dial),
    exporter => exporter.close(),
  )
  return { sink, ratio: options.ratio }
}
