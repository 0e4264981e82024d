// Brings all objects of a kind to its storage version: an update without a change stores an object in it. Then the other
// versions leave the status of the definition.
import { ApiError, getJson, getText, query, request } from '../../api/client.js'
import { mergePatch } from '../../api/objects.js'
import { type ApiObject, objectPath, type Resource, versionPath } from '../../api/resource.js'
import { DEFINITIONS, type Definition } from './definition.js'

export interface MigrationProgress {
  readonly done: number
  readonly total: number
  readonly isDone: boolean
}

const PAGE = 100

interface NameList {
  readonly metadata: { readonly continue?: string; readonly remainingItemCount?: number }
  readonly items: readonly ApiObject[]
}

export async function migrate(
  { spec, metadata }: Definition,
  version: string,
  report: (progress: MigrationProgress) => void,
): Promise<MigrationProgress> {
  const served =
    spec.versions.find(each => each.served && each.name === version) ?? spec.versions.find(each => each.served)
  if (served === undefined) throw new Error('No version is served, so that no object can be written.')
  const resource = {
    group: spec.group,
    version: served.name,
    name: spec.names.plural,
    namespaced: spec.scope === 'Namespaced',
  }
  const path = `${versionPath(resource)}/${resource.name}`
  let [done, total] = [0, 0]
  for (let next = ''; ; ) {
    const list = await getJson<NameList>(path + query({ limit: PAGE, continue: next }), {
      accept: 'application/json;g=meta.k8s.io;v=v1;as=PartialObjectMetadataList',
    })
    total = done + list.items.length + (list.metadata.remainingItemCount ?? 0)
    report({ done, total, isDone: false })
    for (const {
      metadata: { namespace = '', name },
    } of list.items) {
      await writeAgain(objectPath(resource as Resource, namespace, name))
      done++
      if (done % 10 === 0) report({ done, total, isDone: false })
    }
    next = list.metadata.continue ?? ''
    if (next === '') break
  }
  await mergePatch(`${DEFINITIONS}/${metadata.name}/status`, { status: { storedVersions: [version] } })
  const finished = { done, total: done, isDone: true }
  report(finished)
  return finished
}

/** As YAML, whose numbers keep all of their digits. One that is gone or was changed meanwhile needs no write. */
async function writeAgain(path: string): Promise<void> {
  try {
    const text = await getText(path, { accept: 'application/yaml' })
    await request(path, { method: 'PUT', body: text, contentType: 'application/yaml' })
  } catch (error) {
    if (!(error instanceof ApiError && [404, 409].includes(error.code))) throw error
  }
}
