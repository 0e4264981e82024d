// What is counted of the external signer, under kube-apiserver's names.
import type { MetricsRegistry } from '../../base/metrics.js'
import { grpcCodeOf } from '../../storage/grpc.js'

export interface SignerMetrics {
  called(path: string, seconds: number, error: unknown): void
  /** `dataSeconds`: how old the keys are, as a time. */
  fetched(code: string, dataSeconds?: number): void
  signed(code: string): void
}

const PREFIX = 'apiserver_externaljwt_'
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export function signerMetrics(metrics: MetricsRegistry): SignerMetrics {
  const success = metrics.gauge(
    `${PREFIX}fetch_keys_success_timestamp`,
    'Unix Timestamp in seconds of the last successful FetchKeys request',
    [],
  )
  const data = metrics.gauge(
    `${PREFIX}fetch_keys_data_timestamp`,
    'Unix Timestamp in seconds of the last successful FetchKeys data_timestamp value returned by the external signer',
    [],
  )
  const fetches = metrics.counter(`${PREFIX}fetch_keys_request_total`, 'Total attempts at syncing supported JWKs', [
    'code',
  ])
  const signs = metrics.counter(`${PREFIX}sign_request_total`, 'Total attempts at signing JWT', ['code'])
  const durations = metrics.histogram(
    `${PREFIX}request_duration_seconds`,
    'Request duration and time for calls to external-jwt-signer',
    ['method', 'code'],
    BUCKETS,
  )
  return {
    called: (path, seconds, error) => durations.with(path, grpcCodeOf(error)).observe(seconds),
    fetched(code, dataSeconds) {
      fetches.with(code).inc()
      if (dataSeconds === undefined) return
      success.with().set(Date.now() / 1000)
      data.with().set(dataSeconds)
    },
    signed: code => signs.with(code).inc(),
  }
}
