// What a list asks of the store: where it reads, at which revision, and what it selects.

import type { Awaitable } from '../../base/awaitable.js'
import { badRequest } from '../../meta/errors/status.js'
import { type ContinueToken, decodeContinue } from '../../meta/options/continue-token.js'
import type { ListOptions } from '../../meta/options/list-options.js'
import { parseResourceVersion } from '../../meta/options/resource-version.js'
import { type ObjectEntry, type ObjectStore } from '../../objects/object-store.js'
import type { ViewedEntries } from '../../objects/select-entries.js'
import type { Selection } from '../../objects/selection.js'
import { type Target } from '../../request/target.js'
import type { ReadAt } from '../../storage/store.js'
import type { AttributeTerm } from '../../storage/watch-cache.js'
import type { VerbGates } from '../api-context.js'

export interface ListQuery {
  readonly target: Target
  readonly store: ObjectStore
  readonly prefix: string
  readonly selection: Selection
  /** The part of the selection that an index can answer. */
  readonly terms: readonly AttributeTerm[]
  /** The selected entries, in the version of the request. `hasTerms`: all of them have the terms. */
  readonly view: (entries: readonly ObjectEntry[], hasTerms: boolean | undefined) => Awaitable<ViewedEntries>
  /** Whether none of them has to be converted. */
  readonly isLocal: (entries: readonly ObjectEntry[]) => boolean
  readonly at: ReadAt
  readonly requested: bigint
  readonly limit: number | undefined
  readonly token: ContinueToken | undefined
}

/** The revision to read at and the key to start after, from resourceVersion, resourceVersionMatch, limit and continue. */
export function startOf(
  options: ListOptions,
  { watchCache }: VerbGates,
): Pick<ListQuery, 'at' | 'requested' | 'limit' | 'token'> {
  const { resourceVersion, resourceVersionMatch } = options
  // With resourceVersion=0 the limit is ignored, as by kube-apiserver's watch cache.
  const limit = options.limit > 0 && !(watchCache && resourceVersion === '0') ? options.limit : undefined
  if (options.continue !== '') {
    const token = decodeContinue(options.continue)
    if (!token.ok) throw badRequest(token.error)
    if (resourceVersion !== '' && resourceVersion !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue')
    }
    const { revision } = token.value
    return { at: revision > 0 ? { exactly: revision } : 'latest', requested: 0n, limit, token: token.value }
  }
  const version = parseResourceVersion(resourceVersion)
  if (!version.ok) throw badRequest(`invalid resource version: ${version.error}`)
  const requested = version.value
  if (requested === 0n) return { at: resourceVersion === '' ? 'latest' : 'any', requested, limit, token: undefined }
  const exact = resourceVersionMatch === 'Exact' || (resourceVersionMatch === '' && limit !== undefined)
  const at = exact ? { exactly: Number(requested) } : { notOlderThan: Number(requested) }
  return { at, requested, limit, token: undefined }
}
