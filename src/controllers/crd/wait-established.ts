// The verbs, with writes of definitions answered only when the registry serves what they define: a custom resource can be
// used as soon as its definition is created.
import type { Kind } from '../../kinds/kind.js'
import { metaOf } from '../../meta/object/object-meta.js'
import type { ObjectView } from '../../objects/object-view.js'
import type { ListResult, Result } from '../../verbs/result.js'
import type { Verbs, Write } from '../../verbs/verbs.js'
import type { Definitions } from './controller.js'

export function waitingVerbs(verbs: Verbs, definitions: Definitions): Verbs {
  const waiting =
    (write: Write): Write =>
    async (request, target, query, body) => {
      const result = await write(request, target, query, body)
      if (isDefinition(target.kind)) await definitions.waitEstablished(target.name || nameIn(result))
      return result
    }
  return {
    ...verbs,
    create: waiting(verbs.create),
    update: waiting(verbs.update),
    patch: waiting(verbs.patch),
    delete: waiting(verbs.delete),
    async deleteCollection(request, target, query, body) {
      const result = await verbs.deleteCollection(request, target, query, body)
      return isDefinition(target.kind) && result.type === 'list' ? waitForAll(result, definitions) : result
    },
  }
}

/** The result, when none of the deleted definitions is served any more. */
async function waitForAll(result: ListResult, definitions: Definitions): Promise<ListResult> {
  const pages: (readonly ObjectView[])[] = []
  for await (const page of result.pages) pages.push(page)
  const names = pages.flat().map(({ value }) => metaOf(value()).name ?? '')
  await Promise.all(names.map(name => definitions.waitEstablished(name)))
  return { ...result, pages: readAgain(pages) }
}

async function* readAgain<T>(pages: readonly T[]): AsyncGenerator<T> {
  yield* pages
}

const isDefinition = ({ group, names }: Kind): boolean =>
  group === 'apiextensions.k8s.io' && names.kind === 'CustomResourceDefinition'

const nameIn = (result: Result): string => (result.type === 'object' ? (metaOf(result.object.value()).name ?? '') : '')
