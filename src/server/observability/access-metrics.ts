// Metrics of authentication and authorization, by kube-apiserver's names and labels.
import type { Authorize } from '../../auth/authorizer.js'
import { andThen } from '../../base/awaitable.js'
import { once } from '../../base/memo.js'
import type { Counter, MetricsRegistry } from '../../base/metrics.js'
import type { Authenticate } from '../../http/handler.js'
import type { UserInfo } from '../../request/user-info.js'

const BUCKETS = Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i)
const HOUR = 3600
const DAY = 24 * HOUR
const LIFETIME_BUCKETS = [
  0,
  ...[0.5, 1, 2, 6, 12].map(hours => hours * HOUR),
  ...[1, 2, 4, 7, 30, 90, 180, 360].map(days => days * DAY),
]

export function measureAuthentication(authenticate: Authenticate, metrics: MetricsRegistry): Authenticate {
  const users = metrics.counter(
    'authenticated_user_requests',
    'Counter of authenticated requests broken out by username.',
    ['username'],
  )
  const attempts = metrics.counter('authentication_attempts', 'Counter of authenticated attempts.', ['result'])
  const durations = metrics.histogram(
    'authentication_duration_seconds',
    'Authentication duration in seconds broken out by result.',
    ['result'],
    BUCKETS,
  )
  const lifetimes = metrics
    .histogram(
      'apiserver_client_certificate_expiration_seconds',
      'Distribution of the remaining lifetime on the certificate used to authenticate a request.',
      [],
      LIFETIME_BUCKETS,
    )
    .with()
  const byName = new Map<string, Counter>()
  const results = { success: cellsOf('success'), failure: cellsOf('failure'), error: cellsOf('error') }

  function cellsOf(result: string) {
    return { attempt: once(() => attempts.with(result)), duration: once(() => durations.with(result)) }
  }

  function ofUser(name: string): Counter {
    const shown = publicName(name)
    let counter = byName.get(shown)
    if (!counter) byName.set(shown, (counter = users.with(shown)))
    return counter
  }

  return (exchange, notes) => {
    const began = performance.now()
    const counted = (user: UserInfo | undefined): UserInfo | undefined => {
      // Credentials that are not valid are an error there: a failure is a request without any.
      const hasToken = exchange.headers.authorization !== undefined
      const { attempt, duration } = results[user ? 'success' : hasToken ? 'error' : 'failure']
      attempt().inc()
      duration().observe((performance.now() - began) / 1000)
      if (!user) return undefined
      ofUser(user.name).inc()
      const certificate = exchange.peer.certificate()
      if (certificate?.isValid) lifetimes.observe((certificate.validTo() - Date.now()) / 1000)
      return user
    }
    return andThen(authenticate(exchange, notes), counted)
  }
}

/** Few names, because every user would be a series of its own. */
const PUBLIC_NAMES = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default'])

const publicName = (name: string): string => (PUBLIC_NAMES.has(name) ? name : name.includes('@') ? 'email_id' : 'other')

export function measureAuthorization(authorize: Authorize, metrics: MetricsRegistry): Authorize {
  const attempts = metrics.counter(
    'authorization_attempts_total',
    "Counter of authorization attempts broken down by result. It can be either 'allowed', 'denied', 'no-opinion' or 'error'.",
    ['result'],
  )
  const durations = metrics.histogram(
    'authorization_duration_seconds',
    'Authorization duration in seconds broken out by result.',
    ['result'],
    BUCKETS,
  )
  const cellsOf = (result: string) => once(() => ({ attempt: attempts.with(result), duration: durations.with(result) }))
  const allowed = cellsOf('allowed')
  const noOpinion = cellsOf('no-opinion')
  return (user, attributes) => {
    const began = performance.now()
    const counted = <T extends { readonly allowed: boolean }>(decision: T): T => {
      // No authorizer here denies: what no rule allows, none has an opinion on.
      const { attempt, duration } = decision.allowed ? allowed() : noOpinion()
      attempt.inc()
      duration.observe((performance.now() - began) / 1000)
      return decision
    }
    return andThen(authorize(user, attributes), counted)
  }
}
