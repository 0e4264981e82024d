// The scale subresource: how many there are to be, in the same form for every kind that can be counted.

import type { ApiObject, ScaleRules } from '../kinds/kind.js'
import { resourceOf } from '../kinds/kind-names.js'
import type { GetOptions } from '../meta/list-options.js'
import { metaOf, nameMismatch, placeInNamespace } from '../meta/object-meta.js'
import { notFound } from '../meta/status.js'
import type { WriteOptions } from '../meta/write-options.js'
import type { ScaleAnswer } from './answer.js'
import { setMeta } from './create.js'
import { getObject } from './get.js'
import type { Caller, ResourceContext, Target } from './resource-context.js'
import { type Replacement, replace } from './update.js'

export async function getScale(context: ResourceContext, target: Target, options: GetOptions): Promise<ScaleAnswer> {
  const { object } = await getObject(context, target, options)
  return { type: 'scale', status: 200, warnings: [], object: rulesOf(target).read(object.value()) }
}

/** Makes the new scale from the one that is there. */
export type ScaleChange = (old: ApiObject) => { readonly scale: ApiObject; readonly warnings: readonly string[] }

/**
 * Sets the scale of an object. The rest of the object stays as it is; the uid and resourceVersion that the scale
 * carries are those of the object.
 */
export async function changeScale(
  context: ResourceContext,
  target: Target,
  options: WriteOptions,
  caller: Caller,
  change: ScaleChange,
  isWhatClientSaw: boolean,
): Promise<ScaleAnswer> {
  const { kind, namespace, name } = target
  const rules = rulesOf(target)
  const answer = await replace(context, target, options, caller, async (old): Promise<Replacement> => {
    if (!old) throw notFound(resourceOf(kind), name)
    const { scale: sent, warnings } = change(rules.read(old))
    const mismatch = nameMismatch(metaOf(sent), name)
    if (mismatch) throw mismatch
    const scale = setMeta(sent, placeInNamespace(metaOf(sent), namespace))
    const { uid, resourceVersion } = metaOf(scale)
    const counted = rules.write(old, scale)
    const meta = { ...metaOf(counted), ...(uid && { uid }), resourceVersion: resourceVersion ?? '' }
    // A scale that names no version means the object as it is, whatever the manners of its kind.
    const seen = resourceVersion ? meta : { ...meta, resourceVersion: metaOf(old).resourceVersion ?? '' }
    return {
      object: setMeta(counted, seen),
      warnings,
      isWhatClientSaw: isWhatClientSaw && Boolean(resourceVersion || uid),
    }
  })
  const { status, warnings, object } = answer!
  return { type: 'scale', status, warnings, object: rules.read(object.value()) }
}

const rulesOf = ({ version }: Target): ScaleRules => version.subresources.scale!
