// The DeleteOptions in the body of a request.
import { once } from '../base/memo.js'
import { badRequest } from '../meta/errors/status.js'
import { jsonTypeOf, quote } from '../meta/go/go-text.js'
import { type DeleteOptions, validDeleteOptions } from '../meta/options/write-options.js'
import { getOwn, isObject, type Value, type ValueObject } from '../meta/values/value.js'
import { decodeTyped, TypedDecodeError } from './go/decode.js'
import { builtinTypes } from './type-table.js'

const deleteOptions = once(() => builtinTypes().byName('meta/v1.DeleteOptions'))

/** The options in the decoded body of a delete. Unknown members are ignored. */
export function decodeDeleteOptions(body: Value): DeleteOptions {
  checkKind(body)
  try {
    return validDeleteOptions(decodeTyped(deleteOptions(), body).value)
  } catch (error) {
    if (error instanceof TypedDecodeError) throw badRequest(error.message)
    throw error
  }
}

/** A body may leave out apiVersion and kind. If it has a kind, that must be DeleteOptions, of any group. */
function checkKind(body: Value): void {
  if (body === null) return
  if (!isObject(body)) {
    const struct =
      'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
    throw badRequest(`${UNREAD} ${jsonTypeOf(body)} into Go value of type ${struct}`)
  }
  const version = typeField(body, 'apiVersion') || 'meta.k8s.io/v1'
  const kind = typeField(body, 'kind') || 'DeleteOptions'
  if (kind !== 'DeleteOptions') {
    const scheme = 'pkg/apis/meta/internalversion/scheme/register.go:27'
    throw badRequest(`no kind ${quote(kind)} is registered for version ${quote(version)} in scheme "${scheme}"`)
  }
}

function typeField(body: ValueObject, field: string): string {
  const value = getOwn(body, field) ?? ''
  if (typeof value === 'string') return value
  throw badRequest(`${UNREAD} ${jsonTypeOf(value)} into Go struct field .${field} of type string`)
}

const UNREAD = "couldn't get version/kind; json parse error: json: cannot unmarshal"
