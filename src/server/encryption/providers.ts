// The transformers of an EncryptionConfiguration: for each resource those of its rules, in their order.
import type { Logger } from '../../base/logger.js'
import {
  aesCbc,
  aesGcm,
  createKms,
  type EncryptionMetrics,
  IDENTITY,
  type Kms,
  type PrefixTransformer,
  prefixTransformers,
  secretbox,
  type Transformer,
} from '../../storage/encryption.js'
import type { EncryptedResources, Provider, ProviderKey } from './configuration.js'

export interface ProviderEnv {
  readonly metrics: EncryptionMetrics
  readonly log: Logger
  readonly now: () => number
}

export interface Providers {
  /** The transformer of a resource: by its own name, by its group, or that of all. */
  transformerOf(group: string, resource: string): Transformer
  /** The KMS plugins, in the order of the configuration. */
  readonly plugins: readonly Kms[]
  /** Resolves when each plugin was asked once. */
  start(): Promise<void>
  close(): void
  /** How long requests to all plugins may take together. */
  readonly timeoutMs: number
}

export function createProviders(configuration: readonly EncryptedResources[], env: ProviderEnv): Providers {
  const plugins: Kms[] = []
  let timeoutMs = 0
  const byResource = new Map<string, PrefixTransformer[]>()
  for (const { resources, providers } of configuration) {
    const transformers = providers.map(provider => {
      if (provider.type !== 'kms') return withKeys(provider, env.metrics)
      const kms = createKms({ ...provider, ...env })
      plugins.push(kms)
      timeoutMs += provider.timeoutMs
      return { prefix: `k8s:enc:kms:v2:${provider.name}:`, transformer: kms.transformer }
    })
    for (const resource of resources) {
      // `secrets.` would be another spelling of `secrets`.
      const name = resource.endsWith('.') && resource !== '*.' ? resource.slice(0, -1) : resource
      byResource.set(name, [...(byResource.get(name) ?? []), ...transformers])
    }
  }
  const transformers = new Map(
    [...byResource].map(([name, list]) => [
      name,
      prefixTransformers(list, 'no matching prefix found', env.metrics.transformation),
    ]),
  )
  return {
    plugins,
    timeoutMs,
    transformerOf: (group, resource) =>
      transformers.get(group === '' ? resource : `${resource}.${group}`) ??
      transformers.get(`*.${group}`) ??
      transformers.get('*.*') ??
      IDENTITY,
    async start() {
      await Promise.all(plugins.map(each => each.start()))
    },
    close() {
      for (const each of plugins) each.close()
    },
  }
}

function withKeys(provider: Exclude<Provider, { type: 'kms' }>, metrics: EncryptionMetrics): PrefixTransformer {
  const ofKeys = (keys: readonly ProviderKey[], create: (key: Buffer) => Transformer, name: string): Transformer =>
    prefixTransformers(
      keys.map(key => ({ prefix: `${key.name}:`, transformer: create(key.secret) })),
      `no matching key was found for the provided ${name} transformer`,
      metrics.transformation,
    )
  switch (provider.type) {
    case 'identity':
      return { prefix: '', transformer: IDENTITY }
    case 'aescbc':
      return { prefix: 'k8s:enc:aescbc:v1:', transformer: ofKeys(provider.keys, aesCbc, 'AES') }
    case 'aesgcm':
      return { prefix: 'k8s:enc:aesgcm:v1:', transformer: ofKeys(provider.keys, aesGcm, 'AES') }
    case 'secretbox':
      return { prefix: 'k8s:enc:secretbox:v1:', transformer: ofKeys(provider.keys, secretbox, 'Secretbox') }
  }
}
