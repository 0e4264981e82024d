// Whether extension servers can be reached: the condition Available of APIServices with a Service, with kube-aggregator's
// reasons and messages. Checked when the APIService, its Service or its endpoints change, and every half minute.
import {
  type Controller,
  type ControllerEnv,
  createControllerQueue,
  whenRead,
} from '../controllers/start-controllers.js'
import type { Kind } from '../kinds/kind.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { numberAt, objectAt, objectsAt, stringAt } from '../meta/values/access.js'
import { printTime } from '../meta/values/time.js'
import { equalValues, type ValueObject } from '../meta/values/value.js'
import { startInformer } from '../objects/informer.js'
import type { Lister } from '../objects/lister.js'
import { objectKeyOf } from '../objects/object-store.js'
import { decodeStored } from '../objects/stored-object.js'
import type { ApiContext } from '../verbs/api-context.js'
import { serverObjects } from '../verbs/system-writes.js'
import { type RemoteService, type RemoteServices, readRemoteService } from './remote-services.js'
import { hostPort, type Transport } from './transport.js'

export interface AvailabilityParts {
  readonly context: ApiContext
  readonly kinds: { readonly apiServices: Kind; readonly services: Kind; readonly endpointSlices: Kind }
  readonly lister: Lister
  readonly services: RemoteServices
  readonly transport: Transport
  readonly env: ControllerEnv
}

/** Of one check: `True`, or why not. */
export interface Availability {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

const RECHECK_MS = 30_000
const CHECK_MS = 5_000
/** A Service may have endpoints of which some do not answer: one that does is enough. */
const ATTEMPTS = 5
const SERVICE_LABEL = 'kubernetes.io/service-name'
const AGGREGATOR = { name: 'system:kube-aggregator', groups: ['system:masters'] }

export async function startAvailability(parts: AvailabilityParts): Promise<Controller> {
  const { context, kinds, services, env } = parts
  const objects = serverObjects(context)
  const queue = createControllerQueue('RemoteAvailabilityController', env, reconcile)
  const changes = env.metrics.counter(
    'aggregator_unavailable_apiservice_total',
    'Counter of APIServices which are marked as unavailable broken down by APIService name and reason.',
    ['name', 'reason'],
  )

  async function reconcile(name: string): Promise<void> {
    const service = services.get(name)
    if (!service) return
    const found = await checkAvailability(service, parts)
    await objects.change(
      kinds.apiServices,
      '',
      name,
      old => {
        const changed = withAvailability(old, found, context.now())
        if (changed && found.status === 'False' && readRemoteService(old)?.isAvailable)
          changes.with(name, found.reason).inc()
        return changed
      },
      'status',
    )
    // What is behind the network cannot be watched.
    if (found.reason === 'FailedDiscoveryCheck') throw new Error(found.message)
  }

  /** Checks the APIServices of a Service. */
  function checkServicesOf(namespace: string, name: string): void {
    for (const each of services.all()) {
      if (each.service.namespace === namespace && each.service.name === name) queue.add(each.name)
    }
  }

  const follow = (kind: Kind, nameIn: (object: () => ApiObject, name: string) => string) => {
    const seen = (key: string, object: () => ApiObject): void => {
      if (services.size === 0) return
      const { namespace, name } = objectKeyOf(kind, key)
      checkServicesOf(namespace, nameIn(object, name))
    }
    return startInformer(
      context.objectStore(kind).cache,
      kind.keyPrefix,
      {
        entry: () => {},
        event: event => {
          const { key, value = event.previous?.value, revision } = event
          if (value) seen(key, () => decodeStored({ key, value, revision }))
        },
      },
      env.log,
    )
  }
  const informers = [
    follow(kinds.services, (_, name) => name),
    follow(kinds.endpointSlices, object => stringAt(objectAt(objectAt(object(), 'metadata'), 'labels'), SERVICE_LABEL)),
  ]
  const stopListening = services.onChange(name => queue.add(name))
  let cancel = (): void => {}
  const checkAll = (): void => {
    for (const { name } of services.all()) queue.add(name)
    cancel = env.clock.after(RECHECK_MS, checkAll)
  }
  checkAll()
  await Promise.all(informers.map(({ started }) => whenRead(started)))
  return {
    idle: () => queue.idle(),
    stop() {
      stopListening()
      cancel()
      for (const informer of informers) informer.stop()
      queue.stop()
    },
  }
}

/** Undefined if the condition says so already. */
function withAvailability(apiService: ApiObject, found: Availability, now: number): ApiObject | undefined {
  const status = objectAt(apiService, 'status')
  const conditions = objectsAt(status, 'conditions')
  const old = conditions.find(condition => condition['type'] === 'Available')
  const { lastTransitionTime } = old?.['status'] === found.status ? old : { lastTransitionTime: printTime(now) }
  const condition: ValueObject = { type: 'Available', ...found, ...(lastTransitionTime && { lastTransitionTime }) }
  if (old && equalValues(old, condition)) return undefined
  const all = old ? conditions.map(each => (each === old ? condition : each)) : [...conditions, condition]
  return { ...apiService, status: { ...status, conditions: all } }
}

// ---- the check

export async function checkAvailability(
  remote: RemoteService,
  { lister, transport }: Pick<AvailabilityParts, 'lister' | 'transport'>,
): Promise<Availability> {
  const missing = transport.hasOverride(remote) ? undefined : await checkService(remote, lister)
  if (missing) return { status: 'False', ...missing }
  const [first, ...more] = Array.from({ length: ATTEMPTS }, () => () => checkDiscovery(remote, transport))
  let message = await first!()
  if (message !== undefined) {
    const others = await Promise.all(more.map(attempt => attempt()))
    message = others.includes(undefined) ? undefined : others.at(-1)
  }
  return message === undefined
    ? { status: 'True', reason: 'Passed', message: 'all checks passed' }
    : { status: 'False', reason: 'FailedDiscoveryCheck', message }
}

/** What is missing of the Service and its endpoints. Only those of type ClusterIP have ports and endpoints here. */
async function checkService(
  { service: { namespace, name, port } }: RemoteService,
  lister: Lister,
): Promise<Omit<Availability, 'status'> | undefined> {
  const where = `service/${name} in ${JSON.stringify(namespace)}`
  const found = await lister.find({ group: '', kind: 'Service' }, namespace, name)
  if (!found) return { reason: 'ServiceNotFound', message: `${where} is not present` }
  const spec = objectAt(found, 'spec')
  if (stringAt(spec, 'type') !== 'ClusterIP') return undefined
  const servicePort = objectsAt(spec, 'ports').find(each => numberAt(each, 'port') === port)
  if (!servicePort) return { reason: 'ServicePortError', message: `${where} is not listening on port ${port}` }
  const portName = stringAt(servicePort, 'name')
  const slices = await lister.all({ group: 'discovery.k8s.io', kind: 'EndpointSlice' }, namespace, {
    [SERVICE_LABEL]: name,
  })
  if (slices.length === 0) return { reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${where}` }
  if (slices.some(slice => hasEndpoint(slice, portName))) return undefined
  return {
    reason: 'MissingEndpoints',
    message: `endpointslices for ${where} have no addresses with port name ${JSON.stringify(portName)}`,
  }
}

const hasEndpoint = (slice: ApiObject, portName: string): boolean =>
  objectsAt(slice, 'endpoints').some(endpoint => objectAt(endpoint, 'conditions')['ready'] !== false) &&
  objectsAt(slice, 'ports').some(port => stringAt(port, 'name') === portName && port['port'] !== undefined)

/** Why the group version cannot be discovered; undefined if it can. */
async function checkDiscovery(remote: RemoteService, transport: Transport): Promise<string | undefined> {
  const { group, version } = remote
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  let url: string
  try {
    url = `https://${hostPort(await transport.resolve(remote))}${path}`
  } catch (error) {
    return messageOf(error)
  }
  const failed = (reason: string): string => `failing or missing response from ${url}: ${reason}`
  try {
    const { status } = await transport.get(remote, path, { user: AGGREGATOR, timeoutMs: CHECK_MS })
    return status >= 200 && status < 300 ? undefined : failed(`bad status from ${url}: ${status}`)
  } catch (error) {
    return failed(`Get ${JSON.stringify(url)}: ${messageOf(error)}`)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
