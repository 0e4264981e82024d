// The ServiceCIDR `kubernetes`: the ranges of --service-cluster-ip-range. It is created at the start, before any Service,
// and again when it is deleted. A second range is added to it; other ranges than those it has are left to its owner.
import { isDeepStrictEqual } from 'node:util'
import { readyCondition } from '../../builtin/service-addresses.js'
import type { Kind } from '../../kinds/kind.js'
import { hasReason } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, stringAt, stringsAt } from '../../meta/values/access.js'
import { printTime } from '../../meta/values/time.js'
import { startInformer } from '../../objects/informer.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { componentObjects, serverObjects } from '../../verbs/system-writes.js'
import { type Controller, type ControllerEnv, createControllerQueue, whenRead } from '../common/controller.js'

export const DEFAULT_SERVICE_CIDR = 'kubernetes'

/** As it is when a server creates it. */
export const defaultServiceCidr = (cidrs: readonly string[]): ApiObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: DEFAULT_SERVICE_CIDR },
  spec: { cidrs: [...cidrs] },
})

/** Creates it if it is missing, and otherwise brings it up to the flags as far as that is possible. */
export async function syncDefaultServiceCidr(context: ApiContext, kind: Kind, cidrs: readonly string[]): Promise<void> {
  const objects = serverObjects(context)
  const stored = await objects.get(kind, '', DEFAULT_SERVICE_CIDR)
  if (stored === undefined) {
    await objects.create(kind, defaultServiceCidr(cidrs)).catch((error: unknown) => {
      // Another replica has just created it.
      if (!hasReason(error, 'AlreadyExists')) throw error
    })
  }
  await objects.change(kind, '', DEFAULT_SERVICE_CIDR, old => {
    const have = cidrsOf(old)
    const lacksSecond = cidrs.length === 2 && have.length === 1 && have[0] === cidrs[0]
    return lacksSecond ? { ...old, spec: { ...objectAt(old, 'spec'), cidrs: [...cidrs] } } : undefined
  })
  const object = await objects.get(kind, '', DEFAULT_SERVICE_CIDR)
  if (object !== undefined && needsReady(object, cidrs)) await sayReady(context, kind)
}

/** A condition that says otherwise was written by somebody who knows why. */
function needsReady(object: ApiObject, cidrs: readonly string[]): boolean {
  if (metaOf(object).deletionTimestamp !== undefined || !isDeepStrictEqual(cidrsOf(object), [...cidrs])) return false
  const current = readyCondition(object)
  return current === undefined || stringAt(current, 'status') === 'Unknown'
}

const MANAGER = 'kubernetes-service-cidr-controller'

function sayReady(context: ApiContext, kind: Kind): Promise<void> {
  const writer = componentObjects(context, { user: 'system:apiserver', groups: ['system:masters'], manager: MANAGER })
  const condition = {
    type: 'Ready',
    status: 'True',
    message: 'Kubernetes default Service CIDR is ready',
    lastTransitionTime: printTime(context.now()),
  }
  return writer.apply(kind, { metadata: { name: DEFAULT_SERVICE_CIDR }, status: { conditions: [condition] } }, 'status')
}

const cidrsOf = (object: ApiObject): readonly string[] => stringsAt(objectAt(object, 'spec'), 'cidrs')

/** Does so after every change of the object. */
export async function startDefaultServiceCidr(
  context: ApiContext,
  kind: Kind,
  cidrs: readonly string[],
  env: ControllerEnv,
): Promise<Controller> {
  const queue = createControllerQueue('default_service_cidr', env, () => syncDefaultServiceCidr(context, kind, cidrs))
  const own = `${kind.keyPrefix}${DEFAULT_SERVICE_CIDR}`
  const informer = startInformer(
    context.objectStore(kind).cache,
    kind.keyPrefix,
    {
      entry() {},
      complete: () => queue.add(own),
      event({ key }) {
        if (key === own) queue.add(own)
      },
    },
    env.log,
  )
  await whenRead(informer.started)
  return {
    idle: () => queue.idle(),
    stop() {
      informer.stop()
      queue.stop()
    },
  }
}
