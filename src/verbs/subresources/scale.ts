// The scale subresource: an autoscaling/v1 Scale for every kind that has replicas. A write of the Scale is a write of the
// object. The owners of the replicas are in the managedFields of the object; the Scale gets them while it is written.

import {
  applyConfiguration,
  entriesAfterScale,
  NotOfType,
  replicasPaths,
  scaleEntries,
  trackUpdate,
} from '../../apply/field-manager.js'
import { scaleManagedType } from '../../apply/managed-type.js'
import type { Awaitable } from '../../base/awaitable.js'
import type { ScaleStrategy, Strategy } from '../../kinds/kind.js'
import { apiVersionOf, resourceOf } from '../../kinds/kind-names.js'
import { badRequest, conflict, invalid, notFound, StatusError } from '../../meta/errors/status.js'
import { type ApiObject, setMeta } from '../../meta/object/api-object.js'
import { type ManagedFieldsEntry, metaOf } from '../../meta/object/object-meta.js'
import { checkTypeMeta } from '../../meta/object/type-meta.js'
import type { GetOptions } from '../../meta/options/list-options.js'
import type { PatchOptions, WriteOptions } from '../../meta/options/write-options.js'
import type { PatchKind } from '../../patch/field-validation.js'
import { type Body, type BodySpec } from '../../request/body.js'
import { forResource, type ResourceRequest } from '../../request/request.js'
import { type Target } from '../../request/target.js'
import type { Types } from '../../types/type.js'
import { protobufCodec, shapeTyped } from '../../types/typed-body.js'
import { type ApiContext } from '../api-context.js'
import { mutate } from '../pipeline/admit.js'
import { checkAddress } from '../pipeline/check-address.js'
import { readObject } from '../pipeline/decode-body.js'
import { fieldManagerOf } from '../pipeline/field-tracking.js'
import { uidConflict } from '../pipeline/prepare-update.js'
import { APPLIED } from '../pipeline/prepared.js'
import { getObject } from '../read/get.js'
import type { ScaleResult } from '../result.js'
import { configurationReader } from '../write/apply.js'
import { applyPatch, asPatchStatus, decodePatched, parsePatch } from '../write/patch.js'
import { replace } from '../write/update.js'

export async function getScale(context: ApiContext, request: ResourceRequest<GetOptions>): Promise<ScaleResult> {
  const { object } = await getObject(context, request)
  return { type: 'scale', status: 200, object: strategyOf(request.target).read(object.value()) }
}

/** Replaces the scale by the one in a body. */
export async function updateScale(
  context: ApiContext,
  request: ResourceRequest<WriteOptions>,
  body: Body,
): Promise<ScaleResult> {
  const { target, options } = request
  const read = readScale(strategyOf(target), () =>
    readObject(request, body, scaleSpec(target.version.type.types), options.fieldValidation),
  )
  // A body for another object is refused whether the object exists or not.
  const sent = checkAddress(read, target)
  const { uid, resourceVersion } = metaOf(sent)
  const isWhatClientSaw = Boolean(uid || resourceVersion)
  return changeScale(context, request, async live => {
    return { scale: await tracked(context, request, live, sent), isWhatClientSaw }
  })
}

function readScale({ undecodable }: ScaleStrategy, read: () => ApiObject): ApiObject {
  try {
    return read()
  } catch (error) {
    if (undecodable !== undefined && error instanceof StatusError && error.status.code === 400)
      throw badRequest(undecodable)
    throw error
  }
}

export async function patchScale(
  context: ApiContext,
  request: ResourceRequest<PatchOptions>,
  kind: PatchKind,
  bytes: Buffer,
): Promise<ScaleResult> {
  const { target, options } = request
  const { types, dialect } = target.version.type
  return changeScale(context, request, live =>
    asPatchStatus(async () => {
      const patch = parsePatch(types.byName('autoscaling/v1.Scale'), kind, bytes, options.fieldValidation)
      const { decode } = scaleSpec(types)
      const shape = dialect === 'go' ? decodePatched(patch, decode, live, types) : withTypeMeta(decode)
      const object = await applyPatch(request, live, patch, shape)
      return { scale: await tracked(context, request, live, checkAddress(object, target)), isWhatClientSaw: false }
    }),
  )
}

/** kube-apiserver looks for the kind before it decodes the result of a patch. */
const withTypeMeta =
  (decode: Strategy['decode']): Strategy['decode'] =>
  (result, ...rest) => {
    checkTypeMeta(result, badRequest)
    return decode(result, ...rest)
  }

export async function applyScale(
  context: ApiContext,
  request: ResourceRequest<PatchOptions>,
  body: Body,
): Promise<ScaleResult> {
  const { target, options } = request
  const read = configurationReader(request, body)
  const { unappliable } = strategyOf(target)
  const { types } = target.version.type
  return changeScale(context, request, async live => {
    const configuration = read()
    const { object } = await applyConfiguration(scaleManagedType(types), live, configuration.object, {
      manager: fieldManagerOf(request),
      force: options.force,
      now: context.now(),
      decodeMerged(merged) {
        if (unappliable !== undefined) throw new NotOfType(unappliable)
        return scaleSpec(types).decode(merged, []).object
      },
    })
    configuration.checkDuplicates()
    return { scale: checkAddress(object, target), isWhatClientSaw: false }
  })
}

const tracked = (
  context: ApiContext,
  request: ResourceRequest<WriteOptions>,
  live: ApiObject,
  next: ApiObject,
): Awaitable<ApiObject> =>
  trackUpdate(scaleManagedType(request.target.version.type.types), live, next, fieldManagerOf(request), context.now())

/** How the body of a Scale is decoded, whatever kind it is the scale of. */
const scaleSpec = (types: Types): BodySpec => ({
  kind: 'Scale',
  version: 'v1',
  decode: (body, duplicates) => shapeTyped(types, 'autoscaling/v1', 'Scale', body, duplicates),
  protobuf: protobufCodec(types, 'autoscaling/v1', 'Scale'),
})

const SCALE_KIND = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

interface NewScale {
  /** With the managedFields after the write. */
  readonly scale: ApiObject
  readonly isWhatClientSaw: boolean
}

/** Changes the scale of an object. `change` gets the present scale with its managedFields. */
async function changeScale(
  context: ApiContext,
  request: ResourceRequest<WriteOptions>,
  change: (live: ApiObject) => Promise<NewScale>,
): Promise<ScaleResult> {
  const { target, options } = request
  const { kind, version, name } = target
  const rules = strategyOf(target)
  const paths = replicasPaths(kind)
  const replaced = await replace(context, forResource(request, { ...target, subresource: '' }, options), async old => {
    if (!old) throw notFound(resourceOf(kind), name)
    const entries = metaOf(old).managedFields ?? []
    const view = rules.readForUpdate ?? rules.read
    const live = withEntries(view(old), scaleEntries(entries, paths))
    const { scale: sent, isWhatClientSaw } = await change(live)
    const mutated = await mutate(context, {
      operation: 'UPDATE',
      request,
      target,
      kind: SCALE_KIND,
      object: sent,
      oldObject: live,
    })
    const scale = mutated ?? sent
    const errors = rules.validate(scale)
    if (errors.length > 0) throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, errors)
    const { managedFields: ofScale = [], uid, resourceVersion } = metaOf(scale)
    const after = entriesAfterScale(entries, ofScale, paths, apiVersionOf(kind, version.name))
    const counted = withEntries(rules.write(old, scale), after)
    if (rules.checksUid === true && uid && uid !== metaOf(old).uid && !isWhatClientSaw)
      throw conflict({ ...resourceOf(kind), resource: `${kind.names.plural}/scale` }, name, uidConflict(uid, old))
    // The uid and resourceVersion of a Scale are those of its object.
    const seen = { ...(uid && isWhatClientSaw && { uid }), ...(resourceVersion && { resourceVersion }) }
    return {
      object: setMeta(counted, { ...metaOf(counted), ...seen }),
      isWhatClientSaw,
      ...APPLIED,
      admittedAs: { target, kind: SCALE_KIND, view },
    }
  })
  const { status, object } = replaced!
  return { type: 'scale', status, object: rules.read(object.value()) }
}

function withEntries(object: ApiObject, managedFields: readonly ManagedFieldsEntry[]): ApiObject {
  const { managedFields: _, ...meta } = metaOf(object)
  return setMeta(object, managedFields.length === 0 ? meta : { ...meta, managedFields })
}

const strategyOf = ({ version }: Target): ScaleStrategy => version.subresources.scale!
