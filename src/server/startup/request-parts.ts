// The phases between the foundation and the first request: what decides about requests, and what they work with.
//
//   webhooks → access → priority and fairness → quotas, policies, webhook configurations → CRDs → extension servers → audit
import { startWebhookSources } from '../../admission/webhook-sources.js'
import { type Aggregator, startAggregator } from '../../aggregation/aggregator.js'
import { createNamesLock, type Definitions, startDefinitions } from '../../controllers/definitions.js'
import type { FlowControl } from '../../flowcontrol/flow-control.js'
import type { Audit } from '../../http/handler.js'
import type { Kind } from '../../kinds/kind.js'
import { isGateOn } from '../../meta/feature-gates.js'
import { startKindInformer } from '../../objects/informer.js'
import { createLister } from '../../objects/lister.js'
import { type ApiContext, createApiContext } from '../../verbs/api-context.js'
import { createWebhooks, type FindService } from '../../webhook/client.js'
import { isOwnService } from '../../webhook/own-server.js'
import { countedSink, createAudit } from '../audit/audit-log.js'
import { openAudit } from '../audit/open-audit.js'
import { REMOTE_UID } from '../options/effective-gates.js'
import { hasPriorityAndFairness } from '../options/limits.js'
import type { ServerOptions } from '../options/server-options.js'
import { startPolicyObjects } from '../policy-objects.js'
import { createFrontProxy, type FrontProxy } from '../tls/front-proxy.js'
import { type AccessControl, openAccess } from './access/access.js'
import { createLoopback, type Loopback } from './access/loopback.js'
import { createServerContext } from './context.js'
import { NO_FLOW_CONTROL, startFlowControl } from './flowcontrol/flow-control.js'
import type { Foundation, ServerEnv } from './foundation.js'
import { ADMISSION_GROUP, DEFINITIONS, requireKind } from './kinds.js'
import type { Phases } from './phases.js'
import { serviceFinder } from './service-finder.js'

export interface RequestParts {
  readonly access: AccessControl
  /** Priority and fairness; undefined where only the in-flight limits hold. */
  readonly flowControl: FlowControl | undefined
  /** With admission and the checks of the authorizer. */
  readonly context: ApiContext
  readonly definitions: Definitions
  readonly aggregator: Aggregator
  /** Absent where flags name the certificates. */
  readonly frontProxy: (() => Promise<FrontProxy>) | undefined
  readonly audit: Audit | undefined
  readonly loopback: Loopback
  /** Whether everything that decides about requests has been read: definitions, policies, webhook configurations. */
  isInSync(): boolean
}

export async function startRequestParts(
  phases: Phases,
  options: ServerOptions,
  foundation: Foundation,
  env: ServerEnv,
): Promise<RequestParts> {
  const { registry, store, objects, functions, configurations } = foundation
  const { log, metrics, ruleCompiler } = env
  const { now } = env.clock
  const { webhookHosts: hosts } = options.api
  const kindOf = (group: string, name: string): Kind => requireKind(registry, group, name)

  const loopback = createLoopback()
  const { ownServer } = loopback
  const inCluster = serviceFinder(createLister(registry, objects))
  const findService: FindService = async service =>
    isOwnService(service) ? (ownServer()?.address ?? inCluster(service)) : inCluster(service)
  const webhooks = await phases.run(
    'webhooks',
    () =>
      createWebhooks({
        hosts,
        findService,
        ownServer,
        dials: options.egress,
        beforeCall: options.hooks?.beforeWebhookCall,
      }),
    client => client.close(),
  )
  const access = await phases.run(
    'access',
    () => {
      const own = createApiContext({ store, objects, now })
      return openAccess(store, own, registry, options, { webhooks, loopback }, { metrics, log })
    },
    opened => opened.stop(),
  )
  const flows = await phases.run(
    'priority and fairness',
    () => {
      if (!hasPriorityAndFairness(options.limits)) return NO_FLOW_CONTROL
      const watchList = isGateOn(options.api.featureGates, 'WatchList')
      return startFlowControl({ objects, store, registry, metrics, log, limits: options.limits.requests, watchList })
    },
    started => started.stop(),
  )
  const quotas = await phases.run(
    'quotas',
    () => startKindInformer(objects, kindOf('', 'ResourceQuota'), () => true),
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
        mutating: kindOf(ADMISSION_GROUP, 'MutatingWebhookConfiguration'),
        validating: kindOf(ADMISSION_GROUP, 'ValidatingWebhookConfiguration'),
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
    now,
    webhookClient: webhooks,
    webhookSources,
    metrics,
    functions,
    configurations,
  })
  const definitions = await phases.run(
    'CRDs',
    () => {
      const namesLock = store.embedded ? undefined : createNamesLock(store)
      const parts = { webhooks, functions: options.api.conversions, ruleCompiler, namesLock }
      return startDefinitions(context, registry, kindOf(DEFINITIONS.group, DEFINITIONS.kind), parts, env)
    },
    started => started.stop(),
  )
  const { proxyClient, forwardsRedirects } = options.api
  const frontProxy = proxyClient || options.authentication.requestHeader ? undefined : createFrontProxy(store)
  const aggregator = await phases.run(
    'extension servers',
    () => {
      const kind = kindOf('apiregistration.k8s.io', 'APIService')
      const namesUids = isGateOn(options.api.featureGates, REMOTE_UID)
      const clientCertificate = async () => (frontProxy ? (await frontProxy()).client : proxyClient)
      return startAggregator({
        objects,
        kind,
        hosts,
        findService,
        dial: options.egress?.cluster,
        forwardsRedirects,
        clientCertificate,
        namesUids,
        env,
      })
    },
    started => started.stop(),
  )
  const { audit } = options
  const auditLog =
    audit &&
    (await phases.run(
      'audit log',
      () => openAudit(audit, { webhooks, metrics, log, random: env.random, now }),
      opened => opened.close(),
    ))
  return {
    access,
    flowControl: flows.control,
    context,
    definitions,
    aggregator,
    frontProxy,
    loopback,
    audit: audit && auditLog && createAudit(audit.policy, countedSink(auditLog, metrics), now),
    isInSync: () => definitions.isComplete && policies.isComplete && webhookSources.isComplete,
  }
}
