// The fields that an endpoint sets back to their old values: the object's own endpoint does not change the status, and
// that of the status changes little else. A manager does not come to own a field through an endpoint that resets it.
import type { Subresources } from '../../kinds/kind.js'
import { type FieldPath, fieldElement } from '../paths/field-path.js'
import { EMPTY, type FieldSet, fieldSet } from '../paths/field-set.js'

/** The fields that a write to the object (subresource `''`) or to one of its subresources resets. */
export function resetFields({ status, statusIsOwnedWithObject }: Subresources, subresource: string): FieldSet {
  if (status === undefined) return EMPTY
  if (subresource === '') return statusIsOwnedWithObject ? EMPTY : STATUS
  return subresource === 'status' ? fieldSet(...(status.resetFields ?? ['spec']).map(parsePath)) : EMPTY
}

const parsePath = (path: string): FieldPath => path.split('.').map(fieldElement)

const STATUS = fieldSet(parsePath('status'))
