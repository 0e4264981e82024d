// Metrics of tokens that other issuers have signed, by kube-apiserver's names and labels.
import type { JwtObserver } from '../../auth/openid-connect.js'
import type { MetricsRegistry } from '../../base/metrics.js'
import { type FeatureGates, isGateOn } from '../../meta/feature-gates.js'
import { hashLabel, serverIdentity } from './server-identity.js'

const PREFIX = 'apiserver_authentication_jwt_authenticator_'
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function jwtMetrics(
  metrics: MetricsRegistry,
  gates: FeatureGates,
): Required<Pick<JwtObserver, 'checked' | 'keysFetched'>> {
  const latencies = metrics.histogram(
    `${PREFIX}latency_seconds`,
    'Latency of jwt authentication operations in seconds. This is the time spent authenticating a token for cache miss only (i.e. when the token is not found in the cache).',
    ['result', 'jwt_issuer_hash'],
    BUCKETS,
  )
  const fetched = metrics.gauge(
    `${PREFIX}jwks_fetch_last_timestamp_seconds`,
    'Timestamp of the last successful or failed JWKS fetch split by result, api server identity and jwt issuer for the JWT authenticator.',
    ['result', 'jwt_issuer_hash', 'apiserver_id_hash'],
  )
  const keySets = metrics.gauge(
    `${PREFIX}jwks_fetch_last_key_set_info`,
    'Information about the last JWKS fetched by the JWT authenticator with hash as label, split by api server identity and jwt issuer.',
    ['jwt_issuer_hash', 'apiserver_id_hash', 'hash'],
  )
  const last = new Map<string, string>()
  const server = hashLabel(serverIdentity())
  return {
    checked(issuer, ok, seconds) {
      latencies.with(ok ? 'success' : 'failure', hashLabel(issuer)).observe(seconds)
    },
    keysFetched(issuer, keySet) {
      if (!isGateOn(gates, 'StructuredAuthenticationConfigurationJWKSMetrics')) return
      fetched.with(keySet === undefined ? 'failure' : 'success', hashLabel(issuer), server).set(Date.now() / 1000)
      if (keySet === undefined) return
      last.set(hashLabel(issuer), hashLabel(keySet))
      keySets.reset()
      for (const [issuerHash, hash] of last) keySets.with(issuerHash, server, hash).set(1)
    },
  }
}
