// The first phases of a start, on which the others stand:
//
//   check the options → open the store → certificates → objects → system objects

import type { PluginConfigurations } from '../../admission/configuration.js'
import {
  type AdmissionCalls,
  compileFunctions,
  createAdmissionCalls,
  type FunctionPlugins,
} from '../../admission/functions.js'
import type { MetricsRegistry } from '../../base/metrics.js'
import { STRICT_IPS } from '../../builtin/service-addresses.js'
import { createInternedParts } from '../../codec/json.js'
import { type ServiceAddresses, serviceAddresses } from '../../controllers/service-allocation.js'
import type { ControllerEnv } from '../../controllers/start-controllers.js'
import type { Tracing } from '../../http/handler.js'
import type { Registry } from '../../kinds/registry.js'
import { isGateOn } from '../../meta/feature-gates.js'
import { createObjectStores, type ObjectStores } from '../../objects/object-stores.js'
import type { RuleCompiler } from '../../schema/rules.js'
import type { Store } from '../../storage/store.js'
import { createApiContext } from '../../verbs/api-context.js'
import type { Encryption } from '../encryption/encryption.js'
import type { Verbosity } from '../observability/verbosity.js'
import { checkGatedOptions, UNSAFE_DELETION } from '../options/effective-gates.js'
import type { ServerOptions } from '../options/server-options.js'
import { shareAuthority } from '../tls/shared-authority.js'
import type { Tls } from '../tls/tls.js'
import { checkAdmissionPlugins, readAdmissionConfiguration } from './admission-plugins.js'
import { ADMISSION_GROUP, createBuiltinRegistry, requireKind } from './kinds.js'
import { prepareServerTls } from './listeners/server-tls.js'
import type { Phases } from './phases.js'
import { openServerStore, startEncryption } from './store.js'
import { type BootstrapOptions, bootstrap, bootstrapServiceCidr } from './system-objects/bootstrap.js'

/** What every part of a server is given. */
export interface ServerEnv extends ControllerEnv {
  readonly ruleCompiler: RuleCompiler
  /** How much is logged. */
  readonly verbosity: Verbosity
  /** Undefined: no spans are recorded. */
  readonly tracing?: Tracing | undefined
}

export interface Foundation {
  readonly registry: Registry
  /** Of admission plugins. */
  readonly configurations: PluginConfigurations
  /** Admission functions of the embedding program, and what they were asked. */
  readonly functions: FunctionPlugins
  readonly calls: AdmissionCalls
  readonly encryption: Encryption | undefined
  readonly store: Store
  /** Undefined where only plain http is served. */
  readonly tls: Tls | undefined
  readonly objects: ObjectStores
  /** The addresses and node ports of Services. */
  readonly addresses: ServiceAddresses
}

export async function openFoundation(
  phases: Phases,
  options: ServerOptions,
  bootstrapOptions: BootstrapOptions,
  env: ServerEnv,
): Promise<Foundation> {
  const { log, metrics, clock } = env
  const checked = await phases.run('check the options', () => checkOptions(options, env))
  const { registry } = checked
  const encryption = await phases.run(
    'encryption',
    () => startEncryption(options, { registry, metrics, log, now: clock.now }),
    started => started?.stop(),
  )
  const parts = createInternedParts()
  const isTraced = env.tracing !== undefined
  const store = await phases.run(
    'open the store',
    () => openServerStore(options, { encryption, registry, metrics, log, clock, isTraced, parts }),
    opened => opened.close(),
  )
  const tls = options.hooks?.listeners
    ? options.hooks.listeners.tls
    : await phases.run('certificates', () =>
        prepareServerTls(options, store.embedded ? undefined : shareAuthority(store)),
      )
  const wrapsReadErrors = isGateOn(options.api.featureGates, UNSAFE_DELETION)
  const objects = await phases.run(
    'objects',
    () => createObjectStores(store, { wrapsReadErrors }, parts),
    stores => stores.close(),
  )
  const addresses = await phases.run('system objects', () =>
    createSystemObjects({ store, objects, registry, metrics: env.metrics, now: clock.now }, options, bootstrapOptions),
  )
  return { ...checked, encryption, store, tls, objects, addresses }
}

/** What can be wrong in options is found before anything is opened. */
function checkOptions({ admission, api, authentication }: ServerOptions, { log, ruleCompiler }: ServerEnv) {
  const warnings = checkAdmissionPlugins(admission)
  checkGatedOptions(authentication, api.featureGates)
  const builtin = createBuiltinRegistry(api, ruleCompiler)
  for (const warning of [...warnings, ...builtin.warnings]) log.warn(warning)
  const { registry } = builtin
  const calls = createAdmissionCalls()
  return {
    registry,
    calls,
    functions: compileFunctions(
      admission.functions,
      requireKind(registry, ADMISSION_GROUP, 'ValidatingWebhookConfiguration'),
      calls,
    ),
    configurations: readAdmissionConfiguration(admission),
  }
}

interface SystemParts {
  readonly store: Store
  readonly objects: ObjectStores
  readonly registry: Registry
  readonly metrics: MetricsRegistry
  now(): number
}

/** Admission has no say in what the server itself creates, and it needs objects that are created here. */
async function createSystemObjects(
  { store, objects, registry, now, metrics }: SystemParts,
  { api, hooks }: ServerOptions,
  bootstrapOptions: BootstrapOptions,
): Promise<ServiceAddresses> {
  const system = createApiContext({ store, objects, now })
  const kinds = {
    services: requireKind(registry, '', 'Service'),
    addresses: requireKind(registry, 'networking.k8s.io', 'IPAddress'),
    serviceCidrs: requireKind(registry, 'networking.k8s.io', 'ServiceCIDR'),
  }
  const allocated = serviceAddresses(system, store, kinds, {
    range: api.serviceRange,
    nodePorts: api.nodePorts,
    isStrict: isGateOn(api.featureGates, STRICT_IPS),
    metrics,
  })
  registry.put(allocated.kind)
  // Before the addresses of Services, which are of its ranges.
  if (!hooks?.isBootstrapped) await bootstrapServiceCidr(system, kinds.serviceCidrs, bootstrapOptions)
  await allocated.repair()
  if (!hooks?.isBootstrapped) await bootstrap(system, registry, bootstrapOptions)
  return allocated
}
