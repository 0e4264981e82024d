// Publishes the addresses of all API servers on one etcd, as kube-apiserver's endpoint reconcilers do: each server makes itself
// known and writes the addresses that it finds.
import type { ApiContext } from '../../verbs/api-context.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { startIntervalController } from '../common/interval-controller.js'
import { type EndpointKinds, publishEndpoints, type ServerAddress } from './kubernetes-endpoints.js'

/** How the servers on one etcd know of each other. `published`: the addresses in the Endpoints now. */
export interface KnownServers {
  /** Makes this server known. */
  enter(): Promise<void>
  /** The addresses to publish, this one among them. */
  living(published: readonly string[]): Promise<readonly string[]>
  leave(): Promise<void>
  /** The addresses to publish once this server has left. */
  remaining(published: readonly string[]): Promise<readonly string[]>
}

export interface EndpointLeaseTimes {
  /** A server that has not renewed its key for this long is gone. */
  readonly ttlSeconds: number
  readonly renewMs: number
}

export const DEFAULT_ENDPOINT_LEASE_TIMES: EndpointLeaseTimes = { ttlSeconds: 15, renewMs: 10_000 }

export interface EndpointReconcilerParts {
  readonly context: ApiContext
  readonly kinds: EndpointKinds
  readonly servers: KnownServers
  /** This server. */
  readonly own: ServerAddress
  readonly renewMs: number
}

export interface EndpointReconciler extends Controller {
  /** Stops, and takes the address of this server away, so that clients go to the others. */
  withdraw(): Promise<void>
}

/** How long a stop waits for the store. After that the address stays until others remove it. */
const WITHDRAW_MS = 2000

export function startEndpointReconciler(
  { context, kinds, servers, own, renewMs }: EndpointReconcilerParts,
  env: ControllerEnv,
): EndpointReconciler {
  const log = env.log.child({ controller: 'endpoints' })
  let running: Promise<void> = Promise.resolve()
  let withdrawn: Promise<void> | undefined
  let isStopped = false

  /** A failure is not tried again before its time: the next renewal comes soon enough. */
  async function reconcile(): Promise<void> {
    try {
      await servers.enter()
      await publishEndpoints(context, kinds, servers.living, own)
    } catch (error) {
      // An error after the stop is mostly that the store is closed.
      if (!isStopped) log.warn('the address of this server cannot be published', { error })
    }
  }

  async function remove(): Promise<void> {
    await running
    await servers.leave()
    await publishEndpoints(context, kinds, servers.remaining, own)
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

  const controller = startIntervalController('endpoint_reconciler', env, renewMs, () => (running = reconcile()))
  return { ...controller, stop, withdraw: () => (withdrawn ??= withdraw()) }
}
