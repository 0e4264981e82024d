// The metrics of encryption at rest, by kube-apiserver's names.
import { createHash } from 'node:crypto'
import type { MetricsRegistry } from '../../base/metrics.js'
import { grpcCodeOf } from '../grpc.js'
import type { RecordTransformation } from './transformer.js'

export interface EncryptionMetrics {
  readonly transformation: RecordTransformation
  cacheMiss(): void
  /** Measures how long a key takes. */
  keyGenerated<T>(generate: () => T): T
  kmsCall(provider: string, method: string, seconds: number, error: unknown): void
  keyUsed(use: 'to_storage' | 'from_storage', provider: string, keyId: string): void
  keyInStatus(provider: string, keyId: string): void
  invalidKeyId(provider: string, code: string): void
  dekSourceAdded(provider: string): void
}

const exponential = (start: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => Number((start * 2 ** i).toPrecision(12)))

/** `serverHash`: the identity of this server, as a label. */
export function createEncryptionMetrics(metrics: MetricsRegistry, serverHash: string): EncryptionMetrics {
  const durations = metrics.histogram(
    'apiserver_storage_transformation_duration_seconds',
    'Latencies in seconds of value transformation operations.',
    ['transformation_type', 'transformer_prefix'],
    exponential(5e-6, 25),
  )
  const operations = metrics.counter(
    'apiserver_storage_transformation_operations_total',
    'Total number of transformations, by whether they succeeded (OK) or how they failed.',
    ['resource', 'transformation_type', 'transformer_prefix', 'status'],
  )
  const misses = metrics
    .counter(
      'apiserver_storage_envelope_transformation_cache_misses_total',
      'Total number of cache misses while accessing key decryption key(KEK).',
      [],
    )
    .with()
  const generations = metrics
    .histogram(
      'apiserver_storage_data_key_generation_duration_seconds',
      'Latencies in seconds of data encryption key(DEK) generation operations.',
      [],
      exponential(5e-6, 14),
    )
    .with()
  const calls = metrics.histogram(
    'apiserver_envelope_encryption_kms_operations_latency_seconds',
    'KMS operation duration with gRPC error code status total.',
    ['provider_name', 'method_name', 'grpc_status_code'],
    exponential(0.0001, 20),
  )
  const KEY_LABELS = ['transformation_type', 'provider_name', 'key_id_hash', 'apiserver_id_hash'] as const
  const uses = metrics.counter(
    'apiserver_envelope_encryption_key_id_hash_total',
    'Number of times a keyID is used split by transformation type, provider, and apiserver identity.',
    KEY_LABELS,
  )
  const usedAt = metrics.gauge(
    'apiserver_envelope_encryption_key_id_hash_last_timestamp_seconds',
    'The last time in seconds when a keyID was used.',
    KEY_LABELS,
  )
  const statusAt = metrics.gauge(
    'apiserver_envelope_encryption_key_id_hash_status_last_timestamp_seconds',
    'The last time in seconds when a keyID was returned by the Status RPC call.',
    ['provider_name', 'key_id_hash', 'apiserver_id_hash'],
  )
  const invalid = metrics.counter(
    'apiserver_envelope_encryption_invalid_key_id_from_status_total',
    'Number of times an invalid keyID is returned by the Status RPC call split by error.',
    ['provider_name', 'error'],
  )
  const cached = metrics.gauge(
    'apiserver_envelope_encryption_dek_source_cache_size',
    'Number of records in data encryption key (DEK) source cache.',
    ['provider_name'],
  )
  return {
    transformation(use, resource, prefix, seconds, error) {
      operations.with(resource, use, prefix, grpcCodeOf(error)).inc()
      if (error === undefined) durations.with(use, prefix).observe(seconds)
    },
    cacheMiss: () => misses.inc(),
    keyGenerated(generate) {
      const began = performance.now()
      const key = generate()
      generations.observe((performance.now() - began) / 1000)
      return key
    },
    kmsCall: (provider, method, seconds, error) => calls.with(provider, method, grpcCodeOf(error)).observe(seconds),
    keyUsed(use, provider, keyId) {
      const labels = [use, provider, hashOf(keyId), serverHash] as const
      uses.with(...labels).inc()
      usedAt.with(...labels).set(Date.now() / 1000)
    },
    keyInStatus: (provider, keyId) => statusAt.with(provider, hashOf(keyId), serverHash).set(Date.now() / 1000),
    invalidKeyId: (provider, code) => invalid.with(provider, code).inc(),
    dekSourceAdded: provider => cached.with(provider).inc(),
  }
}

const hashOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
