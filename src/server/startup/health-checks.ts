// The health checks of /healthz, /livez and /readyz, by kube-apiserver's names, which scripts and tests look for. The steps
// of a start come before the first request, so that their checks pass as soon as the server answers at all.
import type { HealthCheck } from '../../http/pages.js'

type Checks = Readonly<Record<string, HealthCheck>>

const passes: HealthCheck = async () => {}

/** Hooks of kube-apiserver whose work is done here too, in its order. */
const START = `
  start-apiserver-admission-initializer generic-apiserver-start-informers start-apiextensions-informers
  start-apiextensions-controllers crd-informer-synced start-system-namespaces-controller
  start-cluster-authentication-info-controller storage-readiness start-legacy-token-tracking-controller
  start-service-ip-repair-controllers rbac/bootstrap-roles scheduling/bootstrap-system-priority-classes
  priority-and-fairness-config-producer bootstrap-controller start-kubernetes-service-cidr-controller
  start-kube-aggregator-informers apiservice-status-local-available-controller
  apiservice-status-remote-available-controller apiservice-registration-controller apiservice-discovery-controller
  kube-apiserver-autoregistration apiservice-openapi-controller apiservice-openapiv3-controller
`
  .trim()
  .split(/\s+/)

const startChecks = (): Checks => ({
  ...Object.fromEntries(START.map(name => [`poststarthook/${name}`, passes])),
  'autoregister-completion': passes,
})

/** `etcd` asks the store, whichever it is; `shutdown` fails once the server is stopping. */
export const healthChecks = (etcd: HealthCheck, shutdown: HealthCheck) => ({
  healthz: { ping: passes, log: passes, etcd, ...startChecks() } satisfies Checks,
  // A server whose store does not answer is alive: it would not be better after a restart.
  livez: { ping: passes, log: passes, ...startChecks() } satisfies Checks,
  readyz: { ping: passes, log: passes, etcd, 'informer-sync': passes, ...startChecks(), shutdown } satisfies Checks,
})
