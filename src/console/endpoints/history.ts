// `GET /console/api/history?path=/apis/example.com/v1/namespaces/a/widgets/w1`: the revisions of an object that are still
// kept, the newest first, with what each write has changed. They are read as `binnacle diff --history` reads them.

import { editsOf, type HistoryEnd, type Revision, revisionsOf } from '../../authoring/history.js'
import { encodeJson } from '../../codec/json.js'
import { badRequest, notFound } from '../../meta/errors/status.js'
import type { ValueObject } from '../../meta/values/value.js'
import { MalformedPath, parseRequestInfo, type RequestInfo } from '../../request/request-info.js'
import { type Endpoint, withoutAbsent } from './endpoint.js'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 500
/** Revisions are read until they have so many characters together. */
const MAX_SIZE = 16 * 1024 * 1024

export const history: Endpoint = async ({ query, api }) => {
  const info = targetOf(query.get('path') ?? '')
  const limit = limitOf(query.get('limit'))
  const path = info.path.slice(0, info.path.lastIndexOf('/'))
  const { found, end } = await readRevisions(revisionsOf(api, { path }, info.name), limit)
  if (found.length === 0) throw notFound({ group: info.group, resource: info.resource }, info.name)
  const edits = editsOf(found).toReversed()
  const shown = found.slice(0, limit)
  return {
    revisions: shown.map((revision, i): ValueObject => {
      const { managers, changes } = edits[i]!
      return {
        resourceVersion: revision.resourceVersion,
        time: revision.time,
        managers: [...managers],
        changes: changes.map(({ field, before, after }) => withoutAbsent({ field, before, after })),
        object: revision.object,
      }
    }),
    complete: end === 'created' && found.length === shown.length,
  }
}

function targetOf(path: string): RequestInfo {
  try {
    const info = parseRequestInfo('GET', path, '')
    // The name is one segment, so that what follows the last slash is it.
    if (info.isResource && info.name !== '' && info.subresource === '') return info
  } catch (error) {
    if (!(error instanceof MalformedPath)) throw error
  }
  throw badRequest('path must be that of an object, such as /api/v1/namespaces/default/configmaps/a')
}

function limitOf(text: string | null): number {
  const limit = Number(text ?? DEFAULT_LIMIT)
  if (Number.isInteger(limit) && limit > 0) return Math.min(limit, MAX_LIMIT)
  throw badRequest(`limit must be a whole number from 1 to ${MAX_LIMIT}`)
}

/** One more than is shown, because what a write has changed is seen by the one before. */
async function readRevisions(
  revisions: AsyncGenerator<Revision, HistoryEnd>,
  limit: number,
): Promise<{ readonly found: readonly Revision[]; readonly end: HistoryEnd }> {
  const found: Revision[] = []
  for (let size = 0; found.length <= limit && size <= MAX_SIZE; ) {
    const next = await revisions.next()
    if (next.done) return { found, end: next.value }
    found.push(next.value)
    size += encodeJson(next.value.object).length
  }
  return { found, end: 'forgotten' }
}
