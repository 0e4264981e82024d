// Encryption at rest of a server: wraps its store, reads the configuration again when its file changes, and has the health
// checks of the KMS plugins.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../base/logger.js'
import type { MetricsRegistry } from '../../base/metrics.js'
import type { Registry } from '../../kinds/registry.js'
import {
  createEncryptedStore,
  createEncryptionMetrics,
  type EncryptedStore,
  type KeyTransformer,
} from '../../storage/encryption.js'
import type { Store } from '../../storage/store.js'
import { hashLabel, serverIdentity } from '../observability/server-identity.js'
import { followFile } from '../startup/access/followed-file.js'
import { type EncryptedResources, parseEncryptionConfiguration } from './configuration.js'
import { createProviders, type Providers } from './providers.js'
import { createResourceOfKey, OWN_PREFIX } from './resource-of-key.js'

export interface EncryptionOptions {
  readonly path: string
  readonly text: string
  readonly configuration: readonly EncryptedResources[]
  /** Whether the file is read again when it changes. */
  readonly automaticReload: boolean
}

export interface Encryption {
  /** Resolves when the keys of this server itself are encrypted as they should be now. */
  encrypted(store: Store): Promise<Store>
  /** The health checks by their names. */
  readonly checks: Readonly<Record<string, () => Promise<void>>>
  stop(): void
}

export interface EncryptionParts {
  readonly registry: Registry
  /** The key of etcd of a key of the store; values are bound to it. */
  readonly storedKey: (key: string) => Buffer
  readonly metrics: MetricsRegistry
  readonly log: Logger
  readonly now: () => number
}

/** New plugins must answer before they are used. */
const HEALTHY_WITHIN_MS = 10_000
const START_WITHIN_MS = 60_000
const RETRY_MS = 100

/** Resolves when the KMS plugins are healthy; rejects if they are not for a minute. */
export async function startEncryption(options: EncryptionOptions, parts: EncryptionParts): Promise<Encryption> {
  const { registry, storedKey, log, now } = parts
  const env = { metrics: createEncryptionMetrics(parts.metrics, hashLabel(serverIdentity())), log, now }
  const resourceOf = createResourceOfKey(registry)
  const closing = new Set<NodeJS.Timeout>()
  /** Set if objects are read from memory. */
  let encryptedStore: EncryptedStore | undefined
  let providers = createProviders(options.configuration, env)
  await providers.start()
  // The server itself has keys to read. A plugin that runs beside it may be started at the same time.
  await waitHealthy(providers, START_WITHIN_MS)

  function transformerOf(key: string): KeyTransformer {
    const { group, resource, isObject } = resourceOf(key)
    return {
      transformer: providers.transformerOf(group, resource),
      context: { resource: group === '' ? resource : `${resource}.${group}`, authenticated: storedKey(key) },
      isObject,
    }
  }

  async function load(bytes: Buffer): Promise<void> {
    const next = createProviders(parseEncryptionConfiguration(bytes), env)
    try {
      await next.start()
      await waitHealthy(next, Math.max(HEALTHY_WITHIN_MS, 2 * next.timeoutMs))
    } catch (error) {
      next.close()
      throw error
    }
    const before = providers
    // Watches and lists go on with the objects in memory. What cannot be decrypted any more cannot be read by its name.
    providers = next
    // Requests that began with the old plugins may still call them.
    closing.add(setTimeout(() => before.close(), 2 * before.timeoutMs).unref())
    await encryptedStore?.findUnreadable().catch((error: unknown) => {
      log.error('objects that cannot be decrypted any more may still be read from memory', { error })
    })
  }

  const followed = options.automaticReload
    ? followFile({
        path: options.path,
        text: options.text,
        what: 'encryption',
        load,
        metrics: parts.metrics,
        log,
      })
    : undefined

  return {
    async encrypted(store) {
      const wrapped = createEncryptedStore(store, transformerOf)
      await rewriteOwnKeys(wrapped)
      if (!store.embedded) encryptedStore = wrapped
      return wrapped
    },
    checks:
      options.automaticReload || providers.plugins.length > 0 ? { 'kms-providers': () => checkAll(providers) } : {},
    stop() {
      followed?.stop()
      for (const timer of closing) clearTimeout(timer)
      providers.close()
    },
  }
}

/** Such as the key that signs tokens. A replica that does the same at the same time is as good. */
async function rewriteOwnKeys(store: Store): Promise<void> {
  const { entries } = await store.range(OWN_PREFIX)
  for (const { key, value, revision } of entries) {
    if (await store.isStale!(key)) await store.update(key, value, revision)
  }
}

async function checkAll({ plugins }: Providers): Promise<void> {
  const errors: string[] = []
  for (const [i, plugin] of plugins.entries()) {
    await plugin.check().catch((error: Error) => errors.push(`kms-provider-${i}: ${error.message}`))
  }
  if (errors.length > 0) throw new Error(errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`)
}

async function waitHealthy(providers: Providers, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs
  for (;;) {
    try {
      return await checkAll(providers)
    } catch (error) {
      if (performance.now() >= deadline) throw error
      await sleep(RETRY_MS)
    }
  }
}
