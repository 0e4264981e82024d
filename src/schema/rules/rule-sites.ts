// The seam for `x-kubernetes-validations`: where rules stand in a schema, and which faults keep them from being looked
// at. Evaluating them is for those who know the expression language.
import { type FieldError, type FieldErrorType, fieldInvalid } from '../../meta/field-errors.js'
import type { Rule, Schema } from '../structural.js'

/** A step from a schema to one below it. */
export type SchemaStep =
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'items' }
  | { readonly kind: 'additionalProperties' }

export interface RuleSite {
  readonly schema: Schema
  readonly rules: readonly Rule[]
  readonly steps: readonly SchemaStep[]
}

/** Every schema with rules, outer ones first. */
export function ruleSites(root: Schema): readonly RuleSite[] {
  const sites: RuleSite[] = []
  const visit = (schema: Schema, steps: readonly SchemaStep[]): void => {
    if (schema.extensions.rules.length > 0) sites.push({ schema, rules: schema.extensions.rules, steps })
    for (const [name, property] of schema.properties) visit(property, [...steps, { kind: 'property', name }])
    if (schema.items !== undefined) visit(schema.items, [...steps, { kind: 'items' }])
    if (typeof schema.additionalProperties === 'object') {
      visit(schema.additionalProperties, [...steps, { kind: 'additionalProperties' }])
    }
  }
  visit(root, [])
  return sites
}

/** Rules count on types and sizes; beside a fault of those they are not evaluated, and the client is told so. */
export const blocksRules = (errors: readonly FieldError[]): boolean => errors.some(({ type }) => BLOCKING.has(type))

export const rulesNotChecked = (): FieldError =>
  fieldInvalid(
    '',
    null,
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  )

const BLOCKING: ReadonlySet<FieldErrorType> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])
