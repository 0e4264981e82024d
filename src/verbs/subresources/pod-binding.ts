// pods/binding: a Binding assigns a pod to a node. It is not stored.

import { bindingErrors, bound, unbindable } from '../../builtin/pod.js'
import type { Kind } from '../../kinds/kind.js'
import { resourceOf } from '../../kinds/kind-names.js'
import { printFieldError } from '../../meta/errors/field-errors.js'
import { conflict, unclassified } from '../../meta/errors/status.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { failedBeforeTerminating } from '../../meta/options/write-options.js'
import { printTime } from '../../meta/values/time.js'
import { forResource } from '../../request/request.js'
import { typedVirtualResource } from '../../request/typed-virtual-resource.js'
import type { VirtualRequest, VirtualResource } from '../../request/virtual-resource.js'
import type { ApiContext } from '../api-context.js'
import { updateWithoutAdmission } from '../write/update-without-admission.js'
import { checkName, DONE, podTarget } from './pod-subresource.js'

interface BindingParts {
  readonly context: ApiContext
  readonly pods: Kind
  readonly clearsNomination: boolean
}

export function podBindings(context: ApiContext, pods: Kind, clearsNomination: boolean): VirtualResource[] {
  const parts = { context, pods, clearsNomination }
  return [
    typedVirtualResource('v1', 'pods/binding', request => bind(parts, request, request.name)),
    // The older path of pods/binding.
    typedVirtualResource('v1', 'bindings', request => bind(parts, request, metaOf(request.object).name ?? '')),
  ]
}

async function bind(
  { context, pods, clearsNomination }: BindingParts,
  request: VirtualRequest,
  name: string,
): Promise<ApiObject> {
  const target = podTarget(pods, request.namespace, name, 'binding')
  const { object: binding } = request
  checkName(request, 'Binding')
  const errors = bindingErrors(binding).map(printFieldError)
  if (errors.length > 0) throw unclassified(errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
  await request.validate()
  const { uid = '', resourceVersion = '' } = metaOf(binding)
  const preconditions = { ...(uid !== '' && { uid }), ...(resourceVersion !== '' && { resourceVersion }) }
  await updateWithoutAdmission(context, forResource(request.request, target, request.request.options), pod => {
    const failed = failedBeforeTerminating(preconditions, metaOf(pod), resourceOf(pods))
    if (failed) throw failed
    const why = unbindable(pod)
    if (why !== undefined) throw conflict({ group: '', resource: 'pods/binding' }, name, why)
    return bound(pod, binding, { now: printTime(request.now), clearsNomination })
  })
  return DONE
}
