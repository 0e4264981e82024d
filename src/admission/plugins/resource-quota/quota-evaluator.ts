// What counts against a quota: for each resource, which requests are measured, which names of a quota concern it, how much
// an object uses, and which scopes it is in.

import { type ApiObject } from '../../../meta/object/api-object.js'
import { stringAt, stringsAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import type { Attributes } from '../../attributes.js'
import type { Amounts } from '../pod-resources.js'

export interface QuotaEvaluator {
  /** Whether the request may change the usage. */
  handles(attributes: Attributes): boolean
  /** Whether a resource name of a quota concerns the objects. */
  tracks(name: string): boolean
  usage(object: ApiObject, now: number): Amounts
  /** Whether an object is in a scope of a quota; absent for resources that have no scopes. */
  isInScope?(object: ApiObject, scope: ScopeSelector): boolean
  /** What the object lacks so that the quota can measure it. */
  missing?(object: ApiObject, tracked: readonly string[]): string | undefined
}

/** A requirement of a quota's scopeSelector; the entries of `scopes` have the operator Exists. */
export interface ScopeSelector {
  readonly scopeName: string
  readonly operator: string
  readonly values: readonly string[]
}

export const readScopeSelector = (selector: ValueObject): ScopeSelector => ({
  scopeName: stringAt(selector, 'scopeName'),
  operator: stringAt(selector, 'operator'),
  values: stringsAt(selector, 'values'),
})
