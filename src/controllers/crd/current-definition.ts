// The verbs, with writes of custom objects checked by the definition that is current when they are stored, and creates in
// a namespace as it is then. The store refuses a write if one of them has changed since the request began; then the
// request is carried out again, by the definition as it is now.
import type { Registry } from '../../kinds/registry.js'
import { genericResponse } from '../../meta/errors/status.js'
import { isGuardFailure } from '../../objects/storage-status.js'
import type { Target } from '../../request/target.js'
import type { Verbs, Write } from '../../verbs/verbs.js'
import type { Definitions } from './controller.js'

/** A definition that changes faster than requests is answered with a Status that asks the client to try again. */
const ATTEMPTS = 8

export function verbsByCurrentDefinition(verbs: Verbs, definitions: Definitions, registry: Registry): Verbs {
  const current =
    (write: Write): Write =>
    async (request, first, query, body) => {
      const mark = request.warnings.mark()
      let target = first
      for (let attempt = 1; ; attempt++) {
        try {
          return await write(request, target, query, body)
        } catch (error) {
          if (!isGuardFailure(error) || attempt === ATTEMPTS) throw error
        }
        request.warnings.reset(mark)
        target = await currentTarget(target)
      }
    }

  async function currentTarget(target: Target): Promise<Target> {
    const { group, names } = target.kind
    await definitions.waitEstablished(`${names.plural}.${group}`)
    const served = registry.find(group, target.version.name, names.plural)
    if (!served) throw genericResponse(404)
    return { ...target, ...served }
  }

  return { ...verbs, create: current(verbs.create), update: current(verbs.update), patch: current(verbs.patch) }
}
