// The types of custom objects for tests, as merging sees them.
import type { Value, ValueObject } from '../meta/values/value.js'
import { parseSchema, structuralType } from '../schema/structural.js'
import { type MergeType, mergeTypeOf } from '../types/merge.js'
import { builtinTypes } from '../types/type-table.js'

const types = builtinTypes()

/** `written` is an `openAPIV3Schema`. */
export const customMergeType = (written: Value | undefined): MergeType =>
  mergeTypeOf(
    structuralType(types, {
      schema: () => (written === undefined ? undefined : parseSchema(written)),
      written: () => written as ValueObject | undefined,
    }),
  )
