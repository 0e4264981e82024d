// Tokens of other issuers. Those of a file are replaced when the file changes and its issuers answer.
import { setTimeout as sleep } from 'node:timers/promises'
import type { TokenAuthenticator } from '../../../auth/authenticator.js'
import {
  type JwtIssuer,
  type JwtTokens,
  jwtTokens,
  parseAuthenticationConfiguration,
} from '../../../auth/openid-connect.js'
import type { Dials } from '../../../base/dial.js'
import type { Logger } from '../../../base/logger.js'
import type { MetricsRegistry } from '../../../base/metrics.js'
import type { FeatureGates } from '../../../meta/feature-gates.js'
import { jwtMetrics } from '../../observability/jwt-metrics.js'
import type { OpenIdConnectOptions } from '../../options/access/openid-connect.js'
import { checkGatedIssuers } from '../../options/effective-gates.js'
import { followFile, UnfinishedLoad } from './followed-file.js'

export interface JwtTokenParts {
  readonly ownAudiences: readonly string[]
  /** The issuers of service account tokens. */
  readonly ownIssuers: readonly string[]
  readonly now: () => number
  readonly featureGates: FeatureGates
  /** The ways to issuers that name one. */
  readonly egress?: Dials | undefined
  readonly metrics: MetricsRegistry
  readonly log: Logger
}

/** Requests under way may still use the issuers that were replaced. */
const GRACE_MS = 60_000
const HEALTH_TIMEOUT_MS = 60_000
const HEALTH_CHECK_MS = 1_000

export function openJwtTokens(
  { configuration, algorithms, file }: OpenIdConnectOptions,
  { ownAudiences, ownIssuers, now, featureGates, egress, metrics, log }: JwtTokenParts,
): { readonly authenticate: TokenAuthenticator; stop(): void } {
  const observer = {
    ...jwtMetrics(metrics, featureGates),
    initFailed: (issuer: string, error: Error) =>
      log.error('the discovery document of an issuer could not be read', { issuer, error: error.message }),
  }
  const create = (issuers: readonly JwtIssuer[]): JwtTokens =>
    jwtTokens({ issuers, algorithms, ownAudiences, now, egress, observer })
  let current = create(configuration.issuers)
  const stopping = new AbortController()

  async function load(bytes: Buffer): Promise<void> {
    const { issuers } = parseAuthenticationConfiguration(bytes, ownIssuers, {
      before: configuration,
      file: file!.path,
      egress,
    })
    checkGatedIssuers(issuers, featureGates)
    const next = create(issuers)
    const error = await unhealthy(next, stopping.signal)
    if (error !== undefined) {
      next.stop()
      throw new UnfinishedLoad(error)
    }
    const old = current
    current = next
    setTimeout(() => old.stop(), GRACE_MS).unref()
  }

  const followed = file && followFile({ ...file, what: 'authentication', load, metrics, log })
  return {
    authenticate: (token, audiences, notes) => current.authenticate(token, audiences, notes),
    stop() {
      followed?.stop()
      stopping.abort()
      current.stop()
    },
  }
}

/** Why an issuer does not answer; undefined once all do. */
async function unhealthy(tokens: JwtTokens, signal: AbortSignal): Promise<string | undefined> {
  await tokens.attempted
  const until = Date.now() + HEALTH_TIMEOUT_MS
  while (tokens.healthError() !== undefined && Date.now() < until && !signal.aborted) {
    await sleep(HEALTH_CHECK_MS, undefined, { signal, ref: false }).catch(() => {})
  }
  return tokens.healthError()
}
