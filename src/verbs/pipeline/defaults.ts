// The defaults of an object, which take long if it is large.
import type { Awaitable } from '../../base/awaitable.js'
import { inTurns } from '../../base/turns.js'
import type { Strategy } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'

export const defaultedInTurns = (
  { applyDefaults, applyDefaultsInSteps }: Strategy,
  object: ApiObject,
  isDecoded: boolean,
  now: number,
): Awaitable<ApiObject> =>
  applyDefaultsInSteps ? inTurns(applyDefaultsInSteps(object, isDecoded, now)) : applyDefaults(object, isDecoded, now)
