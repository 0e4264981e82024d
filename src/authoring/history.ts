// What an object was before: read from a server by lists at exact resource versions, which every server of Kubernetes has
// as far as its history goes, and distinguished by managedFields.

import { objectAt, objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import { changesBetween, type FieldChange } from '../meta/values/field-changes.js'
import { equalValues, type ValueObject } from '../meta/values/value.js'
import { LiveError, type LiveServer } from './live-server.js'

/** A resource as the command line names it. */
export interface LiveResource {
  /** `/apis/example.com/v1/namespaces/default/widgets`. */
  readonly path: string
  readonly kind: string
}

export interface Revision {
  readonly object: ValueObject
  readonly resourceVersion: string
  /** When it was written, as far as managedFields say. */
  readonly time: string
}

export interface Edit {
  readonly resourceVersion: string
  readonly time: string
  /** The managers whose entries were written with it. */
  readonly managers: readonly string[]
  readonly changes: readonly FieldChange[]
}

/** Finds a resource by its plural, singular, short name or kind; `widgets.example.com` names its group. */
export async function findResource(
  server: LiveServer,
  word: string,
  namespace: string,
): Promise<LiveResource | undefined> {
  const [name = '', ...domain] = word.split('.')
  const group = domain.join('.')
  const groups = objectsAt((await server.get('/apis')) ?? {}, 'groups')
  const versions = [
    ...(group === '' ? ['/api/v1'] : []),
    ...groups
      .filter(each => group === '' || stringAt(each, 'name') === group)
      .map(each => `/apis/${stringAt(objectAt(each, 'preferredVersion'), 'groupVersion')}`),
  ]
  for (const root of versions) {
    for (const each of objectsAt((await server.get(root)) ?? {}, 'resources')) {
      const names = [
        stringAt(each, 'name'),
        stringAt(each, 'singularName'),
        ...stringsAt(each, 'shortNames'),
        stringAt(each, 'kind').toLowerCase(),
      ]
      if (!names.includes(name.toLowerCase())) continue
      const within = each['namespaced'] === true ? `/namespaces/${namespace}` : ''
      return { path: `${root}${within}/${stringAt(each, 'name')}`, kind: stringAt(each, 'kind') }
    }
  }
  return undefined
}

/** The object as it was at a resource version; undefined if it did not exist then, or the server no longer knows. */
export async function objectAtVersion(
  server: LiveServer,
  resource: LiveResource,
  name: string,
  version: string,
): Promise<ValueObject | undefined> {
  const found = await findAtVersion(server, resource, name, version)
  return found === 'forgotten' ? undefined : found
}

async function findAtVersion(
  server: Pick<LiveServer, 'get'>,
  { path, kind }: LiveResource,
  name: string,
  version: string,
): Promise<ValueObject | undefined | 'forgotten'> {
  const query = new URLSearchParams({
    fieldSelector: `metadata.name=${name}`,
    resourceVersion: version,
    resourceVersionMatch: 'Exact',
  })
  try {
    const list = (await server.get(`${path}?${query.toString()}`)) ?? {}
    const [found] = objectsAt(list, 'items')
    // Items of a list of a built-in kind have no type of their own.
    return found && { apiVersion: stringAt(list, 'apiVersion'), kind, ...found }
  } catch (error) {
    // 410: the server has dropped that part of its history.
    if (error instanceof LiveError && error.status?.code === 410) return 'forgotten'
    throw error
  }
}

/** How the revisions of an object end: with the first one, or with the oldest that the server still knows. */
export type HistoryEnd = 'created' | 'forgotten'

/** The object now and before, the newest first, as far back as the server knows. */
export async function* revisionsOf(
  server: Pick<LiveServer, 'get'>,
  { path }: Pick<LiveResource, 'path'>,
  name: string,
): AsyncGenerator<Revision, HistoryEnd> {
  let object: ValueObject | undefined | 'forgotten' = await server.get(`${path}/${encodeURIComponent(name)}`)
  while (object !== undefined && object !== 'forgotten') {
    const revision = revisionOf(object)
    yield revision
    const before = BigInt(revision.resourceVersion) - 1n
    const resource: LiveResource = { path, kind: stringAt(object, 'kind') }
    object = before > 0n ? await findAtVersion(server, resource, name, String(before)) : undefined
  }
  return object ?? 'created'
}

function revisionOf(object: ValueObject): Revision {
  const meta = objectAt(object, 'metadata')
  const times = objectsAt(meta, 'managedFields').map(entry => stringAt(entry, 'time'))
  return {
    object,
    resourceVersion: stringAt(meta, 'resourceVersion'),
    time: times.toSorted().at(-1) || stringAt(meta, 'creationTimestamp'),
  }
}

/** What each write has changed, the oldest first; the first one is the oldest state that is known. */
export function editsOf(newestFirst: readonly Revision[]): readonly Edit[] {
  const revisions = newestFirst.toReversed()
  return revisions.map((revision, i) => {
    const before = revisions[i - 1]?.object
    const { resourceVersion, time, object } = revision
    return {
      resourceVersion,
      time,
      managers: writersOf(object, before),
      changes: before ? changesBetween(before, object) : [],
    }
  })
}

function writersOf(object: ValueObject, before: ValueObject | undefined): readonly string[] {
  const entries = (of: ValueObject): readonly ValueObject[] => objectsAt(objectAt(of, 'metadata'), 'managedFields')
  const known = before ? entries(before) : []
  const changed = entries(object).filter(entry => !known.some(each => equalValues(each, entry)))
  // An entry that only lost fields to another manager keeps its time.
  const newer = changed.filter(
    entry => !known.some(each => isSameWriter(each, entry) && each['time'] === entry['time']),
  )
  const written = newer.length > 0 ? newer : changed
  return [...new Set(written.map(entry => `${stringAt(entry, 'manager')} (${stringAt(entry, 'operation')})`))]
}

const isSameWriter = (a: ValueObject, b: ValueObject): boolean =>
  ['manager', 'operation', 'subresource'].every(name => a[name] === b[name])
