// The verbs for those who want what they define to be there at once: a write to a definition is answered when the
// definition is in force.
import type { Kind } from '../../kinds/kind.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { Result } from '../../verbs/result.js'
import type { Verbs, Write } from '../../verbs/verbs.js'
import type { Definitions } from './controller.js'

export function settlingVerbs(verbs: Verbs, definitions: Definitions): Verbs {
  const settling =
    (write: Write): Write =>
    async (request, target, query, body) => {
      const answer = await write(request, target, query, body)
      if (isDefinition(target.kind)) await definitions.settle(target.name || nameIn(answer))
      return answer
    }
  return {
    ...verbs,
    create: settling(verbs.create),
    update: settling(verbs.update),
    patch: settling(verbs.patch),
    delete: settling(verbs.delete),
  }
}

const isDefinition = ({ group, names }: Kind): boolean =>
  group === 'apiextensions.k8s.io' && names.kind === 'CustomResourceDefinition'

const nameIn = (answer: Result): string => (answer.type === 'object' ? (metaOf(answer.object.value()).name ?? '') : '')
