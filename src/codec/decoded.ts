// The result of every decoder.
import type { Value } from '../meta/values/value.js'
import type { CborMarks } from './cbor/marks.js'

export interface Decoded {
  value: Value
  /**
   * Fields that occur more than once (the last one is used), in the order in which Kubernetes reports them.
   * From JSON: the field's path, as `spec.list[0].x`. From YAML: `line 7: key "a" already set in map`.
   * In CBOR they are an error.
   */
  duplicates: string[]
  /** Details of the CBOR encoding, if they were requested. */
  readonly cbor?: CborMarks | undefined
}
