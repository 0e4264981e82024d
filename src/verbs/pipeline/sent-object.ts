// The object that the body of a write brings, as the audit log shows it: in the version of the request, with its defaults.
import type { ApiObject } from '../../meta/object/api-object.js'
import type { Body } from '../../request/body.js'
import type { Target } from '../../request/target.js'
import { bodySpecOf, decodeBody } from './decode-body.js'

/** Undefined if the body holds none; the write itself then says why. */
export function sentObject(target: Target, body: Body): ApiObject | undefined {
  try {
    const form = bodySpecOf(target)
    const { value, cbor } = decodeBody(body, form)
    return target.version.strategy.applyDefaults(form.decode(value, [], cbor).object)
  } catch {
    return undefined
  }
}
