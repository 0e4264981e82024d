// Deletes what requests have stored, so that what a server still has in use afterwards is what it keeps for good.
import { type ClientHttp2Session, connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import type { ServerAccess } from '../server/request.js'

const TOKEN = 'admin-token'
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json'
/** What these say decides over other requests, so they go first. */
const FIRST = new Set(['admissionregistration.k8s.io', 'apiregistration.k8s.io', 'flowcontrol.apiserver.k8s.io'])
/** Definitions go after their objects, namespaces after their content. */
const LAST = ['customresourcedefinitions', 'namespaces']
/** What one deletes may have held another: a webhook, a finalizer, an owner. */
const PASSES = 5

interface Resource {
  readonly group: string
  readonly name: string
  readonly namespaced: boolean
  /** Of its group version. */
  readonly path: string
}

interface Stored {
  readonly path: string
  readonly hasFinalizers: boolean
}

interface Discovered {
  readonly groups?: readonly {
    readonly name: string
    readonly versions: readonly { readonly groupVersion: string }[]
  }[]
  readonly resources?: readonly { readonly name: string; readonly namespaced: boolean; readonly verbs: string[] }[]
}

interface MetadataList {
  /** Null if there are none. */
  readonly items?:
    | readonly {
        readonly metadata: {
          readonly name: string
          readonly namespace?: string
          readonly finalizers?: readonly string[]
        }
      }[]
    | null
}

/** The paths of all objects that can be deleted. */
export const storedPaths = (server: ServerAccess): Promise<ReadonlySet<string>> =>
  withSession(server, async session => {
    const paths = new Set<string>()
    for (const resource of await resourcesOf(session)) {
      for (const { path } of await objectsOf(session, resource)) paths.add(path)
    }
    return paths
  })

/** Deletes all objects but these. Resolves with the paths of those that the last pass has still found. */
export const deleteStored = (server: ServerAccess, kept: ReadonlySet<string>): Promise<readonly string[]> =>
  withSession(server, async session => {
    let found: string[] = []
    for (let pass = 0; pass < PASSES; pass++) {
      found = []
      for (const resource of await resourcesOf(session)) {
        for (const { path, hasFinalizers } of await objectsOf(session, resource)) {
          if (kept.has(path)) continue
          found.push(path)
          if (hasFinalizers) await ask(session, path, 'PATCH', { metadata: { finalizers: null } })
          await ask(session, `${path}?gracePeriodSeconds=0`, 'DELETE')
          // One of the namespace's own finalizers that no controller removes. What is in it was deleted before.
          if (resource.name === 'namespaces' && pass > 0) {
            const metadata = { name: path.slice(path.lastIndexOf('/') + 1) }
            await ask(session, `${path}/finalize`, 'PUT', { metadata, spec: {} })
          }
        }
      }
      if (found.length === 0) break
    }
    return found
  })

async function withSession<T>({ url, ca }: ServerAccess, run: (session: ClientHttp2Session) => Promise<T>): Promise<T> {
  const session = connect(url, { ca })
  try {
    return await run(session)
  } finally {
    session.close()
  }
}

async function resourcesOf(session: ClientHttp2Session): Promise<readonly Resource[]> {
  const { groups = [] } = (await ask(session, '/apis')) as Discovered
  const groupVersions = groups.flatMap(({ name, versions }) =>
    versions.map(({ groupVersion }) => ({ group: name, path: `/apis/${groupVersion}` })),
  )
  /** By group and name: an object is in the list of every version. */
  const found = new Map<string, Resource>()
  for (const { group, path } of [{ group: '', path: '/api/v1' }, ...groupVersions]) {
    const { resources = [] } = (await ask(session, path)) as Discovered
    for (const { name, namespaced, verbs } of resources) {
      const key = `${group}/${name}`
      const isStored = verbs.includes('list') && verbs.includes('delete')
      if (isStored && !found.has(key)) found.set(key, { group, name, namespaced, path })
    }
  }
  const rank = ({ group, name }: Resource): number => (FIRST.has(group) ? -2 : LAST.indexOf(name))
  return [...found.values()].toSorted((a, b) => rank(a) - rank(b))
}

async function objectsOf(
  session: ClientHttp2Session,
  { path, name, namespaced }: Resource,
): Promise<readonly Stored[]> {
  const { items } = (await ask(session, `${path}/${name}`)) as MetadataList
  return (items ?? []).map(({ metadata }) => ({
    path: `${path}${namespaced ? `/namespaces/${metadata.namespace}` : ''}/${name}/${encodeURIComponent(metadata.name)}`,
    hasFinalizers: (metadata.finalizers ?? []).length > 0,
  }))
}

async function ask(session: ClientHttp2Session, path: string, method = 'GET', body?: object): Promise<unknown> {
  const stream = session.request(
    {
      ':method': method,
      ':path': path,
      authorization: `Bearer ${TOKEN}`,
      accept: METADATA,
      ...(body && { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }),
    },
    { endStream: body === undefined },
  )
  if (body) stream.end(JSON.stringify(body))
  const answer = await text(stream)
  return answer.startsWith('{') ? JSON.parse(answer) : {}
}
