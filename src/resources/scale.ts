// The scale subresource: how many there are to be, in the same form for every kind that can be counted.

import { builtinTypes } from '../builtin/type-table.js'
import { protobufForm, shapeTyped } from '../builtin/typed-form.js'
import { setMeta } from '../kinds/api-object.js'
import type { ApiObject, ScaleRules } from '../kinds/kind.js'
import { resourceOf } from '../kinds/kind-names.js'
import type { GetOptions } from '../meta/list-options.js'
import { metaOf, nameMismatch, placeInNamespace } from '../meta/object-meta.js'
import { notFound } from '../meta/status.js'
import type { PatchOptions, WriteOptions } from '../meta/write-options.js'
import type { PatchKind } from '../patch/field-validation.js'
import type { ScaleAnswer } from './answer.js'
import { type Body, type BodyForm, readObject } from './body.js'
import { getObject } from './get.js'
import { applyPatch, asPatchStatus, parsePatch } from './patch.js'
import type { Caller, ResourceContext, Target } from './resource-context.js'
import { replace } from './update.js'

export async function getScale(context: ResourceContext, target: Target, options: GetOptions): Promise<ScaleAnswer> {
  const { object } = await getObject(context, target, options)
  return { type: 'scale', status: 200, warnings: [], object: rulesOf(target).read(object.value()) }
}

/** Replaces the scale by the one in a body. */
export async function updateScale(
  context: ResourceContext,
  target: Target,
  options: WriteOptions,
  body: Body,
  caller: Caller,
): Promise<ScaleAnswer> {
  const { object: scale, warnings } = readObject(body, scaleForm(), options.fieldValidation)
  return changeScale(context, target, options, caller, async () => ({ scale, warnings }))
}

export async function patchScale(
  context: ResourceContext,
  target: Target,
  options: PatchOptions,
  kind: PatchKind,
  bytes: Buffer,
  caller: Caller,
): Promise<ScaleAnswer> {
  const { fieldValidation } = options
  const facts = { types: builtinTypes().facts(), typeName: SCALE_TYPE }
  return changeScale(context, target, options, caller, old =>
    asPatchStatus(async () => {
      const patch = parsePatch(facts, kind, bytes, fieldValidation)
      const { object, warnings } = applyPatch(old, patch, scaleForm().shape, fieldValidation)
      return { scale: object, warnings }
    }),
  )
}

const SCALE_TYPE = 'autoscaling/v1.Scale'

/** What a Scale looks like in a body; it is of the same kind whatever it is the scale of. */
const scaleForm = (): BodyForm => ({
  kind: 'Scale',
  version: 'v1',
  shape: (body, duplicates) => shapeTyped(builtinTypes(), 'autoscaling/v1', 'Scale', body, duplicates),
  protobuf: protobufForm(builtinTypes(), 'autoscaling/v1', 'Scale'),
})

interface NewScale {
  readonly scale: ApiObject
  readonly warnings: readonly string[]
}

/** Sets the scale of an object to what `change` makes of the present one. The rest of the object stays as it is. */
async function changeScale(
  context: ResourceContext,
  target: Target,
  options: WriteOptions,
  caller: Caller,
  change: (old: ApiObject) => Promise<NewScale>,
): Promise<ScaleAnswer> {
  const { kind, namespace, name } = target
  const rules = rulesOf(target)
  const answer = await replace(context, { ...target, subresource: '' }, options, caller, async old => {
    if (!old) throw notFound(resourceOf(kind), name)
    const { scale: sent, warnings } = await change(rules.read(old))
    const mismatch = nameMismatch(metaOf(sent), name)
    if (mismatch) throw mismatch
    const scale = placeInNamespace(metaOf(sent), namespace)
    // The uid and the version that a scale carries are those of the object it is the scale of.
    const { uid = metaOf(old).uid, resourceVersion = metaOf(old).resourceVersion } = scale
    const counted = rules.write(old, sent)
    const meta = { ...metaOf(counted), ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
    return { object: setMeta(counted, meta), warnings, isWhatClientSaw: true }
  })
  const { status, warnings, object } = answer!
  return { type: 'scale', status, warnings, object: rules.read(object.value()) }
}

const rulesOf = ({ version }: Target): ScaleRules => version.subresources.scale!
