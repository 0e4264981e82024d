// The attributes by which a request is authorized.
import type { FieldSelector } from '../meta/selectors/field-selectors.js'
import type { LabelRequirement } from '../meta/selectors/label-selectors.js'

/** The verb, and the resource or the path. */
export type AccessAttributes = ResourceAccess | { readonly verb: string; readonly path: string }

export interface ResourceAccess {
  readonly verb: string
  readonly group: string
  /** The version of the group, for authorizers outside this server; empty if it is not known. */
  readonly version?: string | undefined
  readonly resource: string
  /** Empty for the resource itself. */
  readonly subresource: string
  /** Empty at the cluster scope. */
  readonly namespace: string
  readonly name: string
  /** What a list, watch or deletion of a collection is limited to: the text of the request, or the selector. */
  readonly fieldSelector?: string | FieldSelector | undefined
  readonly labelSelector?: string | readonly LabelRequirement[] | undefined
}
