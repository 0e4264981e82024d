// The objects that every cluster has: namespaces, roles, priority classes, and the Service of the API server itself.
// Missing ones are created; roles and bindings are brought up to the bootstrap policy, the others are left as they are.

import { SYSTEM_NAMESPACES } from '../../../admission/plugins.js'
import { bootstrapPolicy, reconcilePolicy, SPLIT_FROM, splitBinding } from '../../../auth/bootstrap-roles.js'
import { flowControlObjects } from '../../../builtin/flow-control.js'
import { SYSTEM_PRIORITY_CLASSES } from '../../../builtin/priority-classes.js'
import { addressAt, parseServiceRanges } from '../../../builtin/service-addresses.js'
import {
  DEFAULT_SERVICE_CIDR,
  defaultServiceCidr,
  syncDefaultServiceCidr,
} from '../../../controllers/service-allocation.js'
import {
  danglingStatus,
  flowConfigConsumer,
  flowConfigProducer,
  type KeptObject,
} from '../../../controllers/start-controllers.js'
import type { Kind } from '../../../kinds/kind.js'
import type { Registry } from '../../../kinds/registry.js'
import { hasReason } from '../../../meta/errors/status.js'
import type { FeatureGates } from '../../../meta/feature-gates.js'
import { parseGroupVersion } from '../../../meta/group-version.js'
import { type ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import { asStatus } from '../../../objects/storage-status.js'
import { type ApiContext } from '../../../verbs/api-context.js'
import { type SystemObjects, serverObjects } from '../../../verbs/system-writes.js'
import { createdNow, type FindPrepared, findPrepared } from './prepared-objects.js'

export interface BootstrapOptions {
  /** `10.0.0.0/24`: the Service of the API server gets its first address. */
  readonly serviceRange: string
  /** The port of https. */
  readonly port: number
  readonly featureGates?: FeatureGates
}

export async function bootstrap(
  context: ApiContext,
  registry: Registry,
  options: BootstrapOptions,
  find: FindPrepared = findPrepared,
): Promise<void> {
  const writes = bootstrapWrites(context, find)
  const each = async (objects: readonly ApiObject[], write: (kind: Kind, object: ApiObject) => Promise<void>) => {
    const known = objects.flatMap(object => {
      const kind = kindOf(registry, object)
      return kind ? [{ kind, object }] : []
    })
    await Promise.all(known.map(({ kind, object }) => write(kind, object)))
  }
  const isMissing = async (kind: Kind, object: ApiObject): Promise<boolean> => {
    const { namespace = '', name = '' } = metaOf(object)
    return !(await context.objectStore(kind).get(namespace, name))
  }
  const createMissing = async (kind: Kind, object: ApiObject): Promise<void> => {
    if (await isMissing(kind, object)) await writes.createExpected(kind, object)
  }
  // Namespaces first, because other objects are created in them.
  await each(namespaces(), createMissing)
  await each(priorityClasses(), createMissing)
  await each(flowControlObjects(), async (kind, object) => {
    if (await isMissing(kind, object)) await createFlowObject(context, find, kind, object)
  })
  await each(ownService(options), async (kind, object) => {
    try {
      await createMissing(kind, object)
    } catch (error) {
      // Another replica has just allocated the address and is about to store the Service, or the address is in use. The
      // controller of kept objects tries again.
      if (!hasReason(error, 'Invalid')) throw error
    }
  })
  await each(bootstrapPolicy(options.featureGates), async (kind, object) =>
    (await isMissing(kind, object)) ? createPolicy(writes, kind, object) : reconcile(writes, kind, object),
  )
}

/** The ranges of the addresses of Services. */
export async function bootstrapServiceCidr(
  context: ApiContext,
  kind: Kind,
  { serviceRange }: BootstrapOptions,
  find: FindPrepared = findPrepared,
): Promise<void> {
  const expected = defaultServiceCidr(cidrsOf(serviceRange))
  const prepared = find(kind, expected)
  if (prepared && !(await context.objectStore(kind).get('', DEFAULT_SERVICE_CIDR))) {
    const created = createdNow({ ...prepared, spec: expected['spec']! }, context.now(), context.ids)
    // It is not created if another replica was faster.
    await asStatus(0, () => context.objectStore(kind).create(created, kind.guard))
    return
  }
  await syncDefaultServiceCidr(context, kind, cidrsOf(serviceRange))
}

export const cidrsOf = (serviceRange: string): readonly string[] => serviceRange.split(',')

/** With the condition that the level of a schema is there, which would else be written a moment later. */
async function createFlowObject(
  context: ApiContext,
  find: FindPrepared,
  kind: Kind,
  expected: ApiObject,
): Promise<void> {
  await bootstrapWrites(context, find, flowConfigProducer(context)).createExpected(kind, expected)
  if (kind.names.kind !== 'FlowSchema' || find(kind, expected)) return
  const status = danglingStatus(expected, true, context.now())
  if (status) await flowConfigConsumer(context).apply(kind, status, 'status')
}

interface BootstrapWrites extends SystemObjects {
  /** The same as `create` for an object of this file: stored at once if it is known what the pipeline makes of it. */
  createExpected(kind: Kind, expected: ApiObject): Promise<void>
}

function bootstrapWrites(
  context: ApiContext,
  find: FindPrepared,
  writes: SystemObjects = serverObjects(context),
): BootstrapWrites {
  return {
    ...writes,
    async createExpected(kind, expected) {
      const prepared = find(kind, expected)
      if (!prepared) return writes.create(kind, expected)
      const created = createdNow(prepared, context.now(), context.ids)
      await asStatus(0, () => context.objectStore(kind).create(created, kind.guard))
    },
  }
}

async function createPolicy(writes: BootstrapWrites, kind: Kind, expected: ApiObject): Promise<void> {
  const older = expected.kind === 'ClusterRoleBinding' ? SPLIT_FROM[metaOf(expected).name ?? ''] : undefined
  const source = older === undefined ? undefined : await writes.get(kind, '', older)
  return source ? writes.create(kind, splitBinding(source, expected)) : writes.createExpected(kind, expected)
}

/** Adds what the role or the binding lacks. */
async function reconcile(writes: BootstrapWrites, kind: Kind, expected: ApiObject): Promise<void> {
  const { namespace = '', name = '' } = metaOf(expected)
  const stored = await writes.get(kind, namespace, name)
  if (!stored) return createPolicy(writes, kind, expected)
  const wanted = reconcilePolicy(stored, expected)
  if (wanted === undefined) return undefined
  if (wanted === 'recreate') {
    const { uid } = metaOf(stored)
    await writes.delete(kind, namespace, name, uid === undefined ? {} : { preconditions: { uid } })
    return writes.createExpected(kind, expected)
  }
  return writes.change(kind, namespace, name, old => {
    const changed = reconcilePolicy(old, expected)
    return changed === 'recreate' ? undefined : changed
  })
}

function kindOf(registry: Registry, { apiVersion, kind }: ApiObject): Kind | undefined {
  const groupVersion = parseGroupVersion(apiVersion)
  return groupVersion.ok ? registry.findKind(groupVersion.value.group, kind) : undefined
}

const namespaces = (): ApiObject[] =>
  SYSTEM_NAMESPACES.map(name => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))

const priorityClasses = (): ApiObject[] =>
  SYSTEM_PRIORITY_CLASSES.map(({ name, value, description }) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
    description,
  }))

/** The Service of the API server. */
function ownService({ serviceRange, port }: BootstrapOptions): ApiObject[] {
  const clusterIP = firstAddress(serviceRange)
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'kubernetes',
        namespace: 'default',
        labels: { component: 'apiserver', provider: 'kubernetes' },
      },
      spec: {
        type: 'ClusterIP',
        clusterIP,
        ipFamilyPolicy: 'SingleStack',
        ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: port }],
      },
    },
  ]
}

/** Objects that are created again when they are deleted while the server runs. */
export const keptObjects = (registry: Registry, options: BootstrapOptions): KeptObject[] =>
  ownService(options).flatMap(object => {
    const kind = kindOf(registry, object)
    return kind ? [{ kind, object }] : []
  })

/** The first usable address of the first range: `10.0.0.1` of `10.0.0.0/24`. */
export const firstAddress = (ranges: string): string => addressAt(parseServiceRanges(ranges)![0]!, 1n)
