// create of a virtual resource: the body is decoded and admitted, and the answer is not stored.
import { type AttributesInit, createAttributes } from '../admission/attributes.js'
import { managerName, trackUpdate } from '../apply/field-manager.js'
import { unstoredManagedType } from '../apply/managed-type.js'
import type { Awaitable } from '../base/awaitable.js'
import { parseGroupVersion } from '../meta/group-version.js'
import { type ApiObject, setMeta } from '../meta/object/api-object.js'
import { metaOf, setRequestNamespace } from '../meta/object/object-meta.js'
import type { WriteOptions } from '../meta/options/write-options.js'
import type { Body } from '../request/body.js'
import type { RequestWithOptions } from '../request/request.js'
import type { VirtualResource, VirtualResult, VirtualTarget } from '../request/virtual-resource.js'
import { builtinTypes } from '../types/type-table.js'
import { mutate, validate } from './pipeline/admit.js'
import { readObject } from './pipeline/decode-body.js'
import type { PipelineEnv } from './pipeline/pipeline-env.js'

/** A dry run of a resource that has no effect is answered like any other. */
export async function createVirtual(
  env: PipelineEnv,
  request: RequestWithOptions<WriteOptions>,
  resource: VirtualResource,
  target: VirtualTarget,
  body: Body,
): Promise<VirtualResult> {
  const sent = readObject(request, body, resource.body, request.options.fieldValidation)
  const placed = setMeta(sent, setRequestNamespace(metaOf(sent), target.namespace))
  const tracked = await track(env, request, resource, resource.applyDefaults?.(placed) ?? placed)
  const changed = await mutate(env, attributesOf(request, resource, target, tracked))
  const object = changed ?? tracked
  const answer = await resource.answer({
    ...target,
    request,
    object,
    now: env.now(),
    validate: (completed = object) =>
      validate(env, createAttributes(attributesOf(request, resource, target, completed))),
  })
  return { type: 'virtual', status: 201, object: answer }
}

/** Such an object has managedFields, too, and a review shows them. */
function track(
  env: PipelineEnv,
  { options, userAgent }: RequestWithOptions<WriteOptions>,
  { resource }: VirtualResource,
  object: ApiObject,
): Awaitable<ApiObject> {
  const [, subresource = ''] = resource.name.split('/')
  const type = unstoredManagedType(builtinTypes(), object.apiVersion, object.kind, subresource)
  return type ? trackUpdate(type, undefined, object, managerName(options.fieldManager, userAgent), env.now()) : object
}

function attributesOf(
  request: RequestWithOptions<WriteOptions>,
  { apiVersion, resource }: VirtualResource,
  { namespace, name }: VirtualTarget,
  object: ApiObject,
): AttributesInit {
  const served = groupVersionOf(apiVersion)
  const [plural = '', subresource = ''] = resource.name.split('/')
  const { group = served.group, version = served.version, kind } = resource
  return {
    operation: 'CREATE',
    request,
    target: {
      resource: { group: served.group, resource: plural },
      version: served.version,
      namespace,
      name,
      subresource,
    },
    kind: { group, version, kind },
    object,
    oldObject: undefined,
  }
}

function groupVersionOf(apiVersion: string): { group: string; version: string } {
  const parsed = parseGroupVersion(apiVersion)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}
