// What every decoder gives back.
import type { Value } from '../meta/values/value.js'
import type { CborMarks } from './cbor/marks.js'

export interface Decoded {
  value: Value
  /**
   * Fields that were given more than once (the last one counts), in the order in which Kubernetes reports them.
   * From JSON: the field's path, as `spec.list[0].x`. From YAML: `line 7: key "a" already set in map`.
   * CBOR refuses them.
   */
  duplicates: string[]
  /** What CBOR said beyond the value, where somebody wants to know. */
  readonly cbor?: CborMarks | undefined
}
