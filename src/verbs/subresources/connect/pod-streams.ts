// pods/log, exec, attach and portforward: streams of a pod's containers, which the kubelet of its node would serve.
import type { Awaitable } from '../../../base/awaitable.js'
import { type FieldError, fieldForbidden, fieldInvalid } from '../../../meta/errors/field-errors.js'
import { badRequest, forbidden, invalid, unclassified } from '../../../meta/errors/status.js'
import { printPlain } from '../../../meta/go/go-text.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import type { ConnectRequest, ConnectResource, ConnectResult } from '../../../request/connect-resource.js'
import type { Request } from '../../../request/request.js'
import { builtinTypes } from '../../../types/type-table.js'
import type { SystemObjects } from '../../system-writes.js'
import type { ConnectKinds } from './connect-kinds.js'
import {
  hostPort,
  type KubeletAddress,
  kubeletOf,
  list,
  member,
  refusedBy,
  require,
  text,
} from './connected-objects.js'

/** Whether the user may also create what the request addresses. */
export type MayCreate = (request: Request) => Awaitable<{ readonly allowed: boolean; readonly reason: string }>

export function podStreams(objects: SystemObjects, kinds: ConnectKinds, mayCreate: MayCreate): ConnectResource[] {
  const upgraded = (subresource: string): ConnectResource => ({
    ...factsOf(subresource),
    methods: ['GET', 'POST'],
    isAdmitted: true,
    async connect(request) {
      await checkMayCreate(request, mayCreate)
      const { pod } = await containerOf(objects, kinds, request, subresource === 'portforward')
      if (nodeNameOf(pod) === '') throw badRequest(`pod ${request.name} does not have a host assigned`)
      const { host, port } = await kubeletFor(objects, kinds, request, pod)
      if (!request.isUpgrade) throw badRequest('Upgrade request required')
      throw unclassified(`error dialing backend: ${refusedBy(host, port)}`)
    },
  })
  const log: ConnectResource = {
    ...factsOf('log'),
    optionsKind: 'PodLogOptions',
    methods: ['GET'],
    produces: 'text',
    isAdmitted: false,
    connect: request => readLog(objects, kinds, request),
  }
  return [log, upgraded('exec'), upgraded('attach'), upgraded('portforward')]
}

function factsOf(
  subresource: string,
): Pick<ConnectResource, 'apiVersion' | 'resource' | 'optionsKind' | 'hasSubpaths'> {
  const resource = builtinTypes()
    .resources('v1')
    .find(({ name }) => name === `pods/${subresource}`)!
  return { apiVersion: 'v1', resource, optionsKind: resource.kind, hasSubpaths: false }
}

/** A GET changes something here, so that the right to get is not enough. */
async function checkMayCreate({ request }: ConnectRequest, mayCreate: MayCreate): Promise<void> {
  const { verb, group, resource, name } = request.info
  if (verb === 'create') return
  const { allowed, reason } = await mayCreate(request)
  if (!allowed) throw forbidden({ group, resource }, name, reason)
}

// ---- the log

async function readLog(objects: SystemObjects, kinds: ConnectKinds, request: ConnectRequest): Promise<ConnectResult> {
  const { options } = request
  const errors = logOptionErrors(options)
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, request.name, errors)
  const { pod, container } = await containerOf(objects, kinds, request, false)
  if (nodeNameOf(pod) === '') return { status: 204 }
  const { host, port } = await kubeletFor(objects, kinds, request, pod)
  const path = `/containerLogs/${request.namespace}/${request.name}/${container}`
  const query = logQuery(options)
  const url = `https://${hostPort(host, port)}${path}${query === '' ? '' : `?${query}`}`
  throw unclassified(`Get "${url}": ${refusedBy(host, port)}`)
}

function logOptionErrors({ tailLines, limitBytes, sinceSeconds, sinceTime, stream }: ApiObject): FieldError[] {
  const errors: FieldError[] = []
  if (isBelow(tailLines, 0n)) errors.push(fieldInvalid('tailLines', tailLines, 'must be greater than or equal to 0'))
  if (isBelow(limitBytes, 1n)) errors.push(fieldInvalid('limitBytes', limitBytes, 'must be greater than 0'))
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(fieldForbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  } else if (isBelow(sinceSeconds, 1n)) {
    errors.push(fieldInvalid('sinceSeconds', sinceSeconds, 'must be greater than 0'))
  }
  if (stream !== undefined) errors.push(fieldForbidden('stream', 'may not be specified'))
  return errors
}

const isBelow = (value: unknown, limit: bigint): boolean => typeof value === 'bigint' && value < limit

/** In the order of their names, as the kubelet is asked. */
const LOG_PARAMETERS = ['follow', 'limitBytes', 'previous', 'sinceSeconds', 'sinceTime', 'tailLines', 'timestamps']

function logQuery(options: ApiObject): string {
  const query = new URLSearchParams()
  for (const name of LOG_PARAMETERS) {
    const value = options[name]
    if (value !== undefined) query.set(name, printPlain(value))
  }
  return query.toString()
}

// ---- pods

const nodeNameOf = (pod: ApiObject): string => text(member(pod, 'spec'), 'nodeName')

async function kubeletFor(
  objects: SystemObjects,
  { nodes }: ConnectKinds,
  request: ConnectRequest,
  pod: ApiObject,
): Promise<KubeletAddress> {
  return kubeletOf(await require(objects, request, nodes, '', nodeNameOf(pod)))
}

/** The pod, and the container that the options name; it may be left out if there is only one. */
async function containerOf(
  objects: SystemObjects,
  { pods }: ConnectKinds,
  request: ConnectRequest,
  isWholePod: boolean,
): Promise<{ pod: ApiObject; container: string }> {
  const { namespace, name, options } = request
  const pod = await require(objects, request, pods, namespace, name)
  const container = text(options, 'container')
  if (isWholePod) return { pod, container }
  const spec = member(pod, 'spec')
  const containers = list(spec, 'containers')
  const all = [...list(spec, 'initContainers'), ...containers, ...list(spec, 'ephemeralContainers')]
  const names = all.map(each => text(each, 'name'))
  if (container === '') {
    if (containers.length === 1) return { pod, container: text(containers[0]!, 'name') }
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`)
  }
  if (!names.includes(container)) throw badRequest(`container ${container} is not valid for pod ${name}`)
  return { pod, container }
}
