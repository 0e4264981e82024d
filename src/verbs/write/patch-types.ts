// The media types of patches, and which of them a kind takes.
import { type VersionedKind } from '../../kinds/kind.js'
import type { PatchKind } from '../../patch/field-validation.js'

export const PATCH_KINDS: Readonly<Record<string, PatchKind | undefined>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
}

export const APPLY_TYPES: readonly string[] = ['application/apply-patch+yaml', 'application/apply-patch+cbor']

const WITHOUT_STRATEGIC = ['application/json-patch+json', 'application/merge-patch+json', ...APPLY_TYPES]
const WITH_STRATEGIC = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  ...APPLY_TYPES,
]

/** In the order of error messages. */
export const patchTypesOf = ({ kind }: VersionedKind): readonly string[] =>
  kind.traits.strategicMerge ? WITH_STRATEGIC : WITHOUT_STRATEGIC
