// `binnacle crd plan --apply`: brings a definition onto a server step by step, so that no object is lost on the way:
//
//   old versions stay, new ones are added ── the storage version changes ── every object is written again
//      ── old versions leave status.storedVersions ── the definition as it is written
//
// Each step is awaited before the next one.

import { setTimeout as sleep } from 'node:timers/promises'
import { UsageError } from '../base/usage-error.js'
import { metaOf } from '../meta/object/object-meta.js'
import { objectAt, objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import type { Value, ValueObject } from '../meta/values/value.js'
import { LiveError, type LiveServer } from './live-server.js'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const WAIT_MS = 60_000
const POLL_MS = 200

export async function applyDefinition(
  server: LiveServer,
  wanted: ValueObject,
  log: (line: string) => void,
): Promise<void> {
  const name = stringAt(objectAt(wanted, 'metadata'), 'name')
  const path = `${DEFINITIONS}/${name}`
  const old = await server.get(path)
  if (old === undefined) {
    log(`create ${name}`)
    await server.send('POST', DEFINITIONS, wanted)
    await established(server, path)
    return
  }
  const spec = objectAt(wanted, 'spec')
  const added = withVersions(spec, objectAt(old, 'spec'))
  log(`add the versions ${namesOf(added)}; objects are stored in ${storageOf(objectAt(old, 'spec'))}`)
  await replaceSpec(server, path, storedIn(added, storageOf(objectAt(old, 'spec'))))
  const storage = storageOf(spec)
  log(`store objects in ${storage}`)
  await replaceSpec(server, path, storedIn(added, storage))
  const current = await established(server, path)
  const leftover = stringsAt(objectAt(current, 'status'), 'storedVersions').filter(version => version !== storage)
  if (leftover.length > 0) {
    const count = await rewriteObjects(server, spec, storage)
    log(`wrote ${count} object${count === 1 ? '' : 's'} again, which were stored in ${leftover.join(', ')}`)
    await server.send(
      'PATCH',
      `${path}/status`,
      { status: { storedVersions: [storage] } },
      'application/merge-patch+json',
    )
    log(`objects are stored in ${storage} only`)
  }
  log('write the definition as it is in the file')
  await replaceSpec(server, path, spec, objectAt(wanted, 'metadata'))
}

/** The versions of the new spec, and those that only the old one has. */
function withVersions(next: ValueObject, old: ValueObject): ValueObject {
  const names = new Set(objectsAt(next, 'versions').map(version => stringAt(version, 'name')))
  const kept = objectsAt(old, 'versions').filter(version => !names.has(stringAt(version, 'name')))
  return { ...next, versions: [...objectsAt(next, 'versions'), ...kept] }
}

const storedIn = (spec: ValueObject, storage: string): ValueObject => ({
  ...spec,
  versions: objectsAt(spec, 'versions').map(
    (version): Value => Object.assign({}, version, { storage: stringAt(version, 'name') === storage }),
  ),
})

const storageOf = (spec: ValueObject): string =>
  stringAt(objectsAt(spec, 'versions').find(version => version['storage'] === true) ?? {}, 'name')

const namesOf = (spec: ValueObject): string =>
  objectsAt(spec, 'versions')
    .map(version => stringAt(version, 'name'))
    .join(', ')

async function replaceSpec(
  server: LiveServer,
  path: string,
  spec: ValueObject,
  metadata: ValueObject = {},
): Promise<void> {
  const current = await established(server, path)
  const meta = objectAt(current, 'metadata')
  const labels = { ...objectAt(meta, 'labels'), ...objectAt(metadata, 'labels') }
  const annotations = { ...objectAt(meta, 'annotations'), ...objectAt(metadata, 'annotations') }
  await server.send('PUT', path, { ...current, metadata: { ...meta, labels, annotations }, spec })
  await established(server, path)
}

async function established(server: LiveServer, path: string): Promise<ValueObject> {
  for (let waited = 0; waited < WAIT_MS; waited += POLL_MS) {
    const definition = await server.get(path)
    const conditions = objectsAt(objectAt(definition ?? {}, 'status'), 'conditions')
    if (definition && conditions.some(each => each['type'] === 'Established' && each['status'] === 'True'))
      return definition
    await sleep(POLL_MS)
  }
  throw new UsageError(`the definition was not established within ${WAIT_MS / 1000} seconds`)
}

/** An update without a change stores an object in the storage version. One that changed meanwhile is stored in it already. */
async function rewriteObjects(server: LiveServer, spec: ValueObject, version: string): Promise<number> {
  const root = `/apis/${stringAt(spec, 'group')}/${version}`
  const plural = stringAt(objectAt(spec, 'names'), 'plural')
  const objects = await server.list(`${root}/${plural}`)
  for (const object of objects) {
    const { namespace = '', name = '' } = metaOf(object)
    const within = namespace !== '' ? `/namespaces/${namespace}` : ''
    try {
      await server.send('PUT', `${root}${within}/${plural}/${name}`, object)
    } catch (error) {
      if (!(error instanceof LiveError && [404, 409].includes(error.status?.code ?? 0))) throw error
    }
  }
  return objects.length
}
