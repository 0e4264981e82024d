// The health checks of /healthz, /livez and /readyz, by kube-apiserver's names, which scripts and tests look for. The steps
// of a start come before the first request, so that their checks pass as soon as the server answers at all.
import { type HealthCheck, Unhealthy } from '../../http/pages.js'

type Checks = Readonly<Record<string, HealthCheck>>

const passes: HealthCheck = async () => {}

/** Steps of kube-apiserver's start whose work is done here too, or is not needed, in its order. */
const START = `
  start-apiserver-admission-initializer generic-apiserver-start-informers priority-and-fairness-config-consumer
  priority-and-fairness-filter storage-object-count-tracker-hook start-apiextensions-informers
  start-apiextensions-controllers crd-informer-synced start-system-namespaces-controller
  peer-endpoint-reconciler-controller start-cluster-authentication-info-controller
  start-kube-apiserver-identity-lease-controller start-kube-apiserver-identity-lease-garbage-collector
  storage-readiness start-legacy-token-tracking-controller start-service-ip-repair-controllers rbac/bootstrap-roles
  scheduling/bootstrap-system-priority-classes priority-and-fairness-config-producer bootstrap-controller
  start-kubernetes-service-cidr-controller start-kube-aggregator-informers
  apiservice-status-local-available-controller apiservice-status-remote-available-controller
  apiservice-registration-controller apiservice-discovery-controller kube-apiserver-autoregistration
  autoregister-completion apiservice-openapi-controller apiservice-openapiv3-controller
`
  .trim()
  .split(/\s+/)

const startChecks = ({ skippedSteps }: ServerState): Checks =>
  Object.fromEntries(
    START.filter(name => !skippedSteps?.has(name)).map(name => [
      name === 'autoregister-completion' ? name : `poststarthook/${name}`,
      passes,
    ]),
  )

/** The certificate of its own connections, which kube-apiserver must renew and this server does not have. */
const LOOPBACK = { 'loopback-serving-certificate': passes }

export interface ServerState {
  /** Rejects with the reason when the store does not answer. */
  checkStore(): Promise<void>
  /** The same for each further store that some resources have. */
  readonly checkOtherStores?: readonly (() => Promise<void>)[] | undefined
  isStopping(): boolean
  /** Steps of the start that feature gates leave out. */
  readonly skippedSteps?: ReadonlySet<string> | undefined
  /** The checks of KMS plugins. */
  readonly encryptionChecks: Checks
  /** Whether everything that decides about requests has been read: definitions, policies, webhook configurations. */
  isInSync(): boolean
}

export const healthChecks = (state: ServerState) => ({
  healthz: {
    ping: passes,
    log: passes,
    ...LOOPBACK,
    ...storeCheck(state),
    ...otherStoreChecks(state, 'etcd', 'etcd-override'),
    ...startChecks(state),
    ...state.encryptionChecks,
  } satisfies Checks,
  // A server whose store does not answer is alive: the client of the store tries again by itself, and a restart would not
  // help. The check is there because clients look for its name.
  livez: {
    ping: passes,
    log: passes,
    ...LOOPBACK,
    etcd: passes,
    ...otherStoreChecks(
      { ...state, checkOtherStores: state.checkOtherStores?.map(() => passes) },
      'etcd',
      'etcd-override',
    ),
    ...startChecks(state),
  } satisfies Checks,
  readyz: {
    ping: passes,
    log: passes,
    ...storeCheck(state),
    'etcd-readiness': storeCheck(state).etcd,
    ...otherStoreChecks(state, 'etcd', 'etcd-override'),
    ...otherStoreChecks(state, 'etcd-readiness', 'etcd-override-readiness'),
    ...syncCheck(state),
    ...startChecks(state),
    ...state.encryptionChecks,
    ...shutdownCheck(state),
  } satisfies Checks,
})

/** Those that can fail while the server runs. */
export const liveChecks = (state: ServerState) =>
  ({ ...storeCheck(state), ...syncCheck(state), ...shutdownCheck(state) }) satisfies Checks

/** `etcd` is kube-apiserver's name for the check of the store, whichever store it is. */
const storeCheck = ({ checkStore }: ServerState) => ({ etcd: answering(checkStore) })

const otherStoreChecks = ({ checkOtherStores = [] }: ServerState, group: string, name: string): Checks =>
  Object.fromEntries(checkOtherStores.map((check, i) => [`${name}-${i}`, Object.assign(answering(check), { group })]))

const answering = (check: () => Promise<void>) => async (): Promise<void> => {
  try {
    await check()
  } catch (error) {
    throw new Unhealthy((error as Error).message, 'the store does not answer; the page of this check says why')
  }
}

const syncCheck = ({ isInSync }: ServerState) => ({
  async 'informer-sync'() {
    if (!isInSync()) throw new Error('there are objects in the store that cannot be read; the log names them')
  },
})

const shutdownCheck = ({ isStopping }: ServerState) => ({
  async shutdown() {
    if (isStopping()) throw new Error('the server is stopping')
  },
})
