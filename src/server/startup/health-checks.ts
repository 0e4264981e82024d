// The health checks of /healthz, /livez and /readyz, by kube-apiserver's names, which scripts and tests look for. The steps
// of a start come before the first request, so that their checks pass as soon as the server answers at all.
import { type HealthCheck, Unhealthy } from '../../http/pages.js'

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

export interface ServerState {
  /** Rejects with the reason when the store does not answer. */
  checkStore(): Promise<void>
  isStopping(): boolean
}

export const healthChecks = (state: ServerState) => ({
  healthz: { ping: passes, log: passes, ...storeCheck(state), ...startChecks() } satisfies Checks,
  // A server whose store does not answer is alive: it would not be better after a restart.
  livez: { ping: passes, log: passes, ...startChecks() } satisfies Checks,
  readyz: {
    ping: passes,
    log: passes,
    ...storeCheck(state),
    'informer-sync': passes,
    ...startChecks(),
    ...shutdownCheck(state),
  } satisfies Checks,
})

/** Those that can fail while the server runs. */
export const liveChecks = (state: ServerState) => ({ ...storeCheck(state), ...shutdownCheck(state) }) satisfies Checks

/** `etcd` is kube-apiserver's name for the check of the store, whichever store it is. */
const storeCheck = ({ checkStore }: ServerState) => ({
  async etcd() {
    try {
      await checkStore()
    } catch (error) {
      throw new Unhealthy((error as Error).message, 'the store does not answer; the page of this check says why')
    }
  },
})

const shutdownCheck = ({ isStopping }: ServerState) => ({
  async shutdown() {
    if (isStopping()) throw new Error('the server is stopping')
  },
})
