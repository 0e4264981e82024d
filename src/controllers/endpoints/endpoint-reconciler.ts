// Publishes the addresses of all API servers that live on one etcd, as kube-apiserver's endpoint reconciler of the type `lease`
// does: each server renews its key and writes the addresses that it finds.
import type { ApiContext } from '../../verbs/api-context.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { startIntervalController } from '../common/interval-controller.js'
import { type EndpointKinds, publishEndpoints, type ServerAddress } from './kubernetes-endpoints.js'
import { createServerLeases, type TtlStore } from './server-leases.js'

export interface EndpointLeaseTimes {
  /** A server that has not renewed its key for this long is gone. */
  readonly ttlSeconds: number
  readonly renewMs: number
}

export const DEFAULT_ENDPOINT_LEASE_TIMES: EndpointLeaseTimes = { ttlSeconds: 15, renewMs: 10_000 }

export interface EndpointReconcilerParts {
  readonly context: ApiContext
  readonly kinds: EndpointKinds
  readonly store: TtlStore
  /** This server. */
  readonly own: ServerAddress
  readonly times: EndpointLeaseTimes
}

export interface EndpointReconciler extends Controller {
  /** Stops, and takes the address of this server away, so that clients go to the others. */
  withdraw(): Promise<void>
}

/** How long a stop waits for the store. After that the address goes with the time to live of its key. */
const WITHDRAW_MS = 2000

export function startEndpointReconciler(
  { context, kinds, store, own, times }: EndpointReconcilerParts,
  env: ControllerEnv,
): EndpointReconciler {
  const leases = createServerLeases(store, times.ttlSeconds)
  const log = env.log.child({ controller: 'endpoints' })
  let running: Promise<void> = Promise.resolve()
  let withdrawn: Promise<void> | undefined
  let isStopped = false

  async function livingServers(): Promise<string[]> {
    const addresses = await leases.addresses()
    // The key of this server was written just now, so an empty list cannot be right.
    if (addresses.length === 0) throw new Error('etcd has no address of an API server')
    return addresses
  }

  /** A failure is not tried again before its time: the next renewal comes soon enough. */
  async function reconcile(): Promise<void> {
    try {
      await leases.renew(own.address)
      await publishEndpoints(context, kinds, livingServers, own)
    } catch (error) {
      // An error after the stop is mostly that the store is closed.
      if (!isStopped) log.warn('the address of this server cannot be published', { error })
    }
  }

  async function remove(): Promise<void> {
    await running
    await leases.remove(own.address)
    await publishEndpoints(context, kinds, leases.addresses, own)
  }

  function stop(): void {
    isStopped = true
    controller.stop()
  }

  async function withdraw(): Promise<void> {
    stop()
    const removed = remove().catch((error: unknown) => {
      log.warn('the address of this server cannot be removed', { error })
    })
    await Promise.race([removed, new Promise(resolve => setTimeout(resolve, WITHDRAW_MS).unref())])
  }

  const controller = startIntervalController('endpoint_reconciler', env, times.renewMs, () => (running = reconcile()))
  return { ...controller, stop, withdraw: () => (withdrawn ??= withdraw()) }
}
