// Deletes what extension servers have in a namespace that is being deleted, as the namespace controller of
// kube-controller-manager does by discovery.
import type { RemoteContents } from '../controllers/start-controllers.js'
import type { RemoteVersions } from '../discovery/remote-versions.js'
import { objectsAt, stringAt, stringsAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import type { RemoteService, RemoteServices } from './remote-services.js'
import { jsonOf, type Transport } from './transport.js'

const ACCOUNT = 'system:serviceaccount:kube-system:namespace-controller'
const USER = {
  name: ACCOUNT,
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
}
const TIMEOUT_MS = 30_000

export const remoteContents = (
  services: RemoteServices,
  transport: Transport,
  discovery: RemoteVersions,
): RemoteContents => ({
  async deleteAll(namespace, remaining) {
    if (services.size === 0) return
    for (const { group, version, resources, freshness } of discovery.all()) {
      const service = services.find(group, version)
      if (!service) continue
      if (freshness === 'Stale') remaining.undiscovered.push(`${group}/${version}`)
      for (const resource of resources) {
        if (!isDeletable(resource)) continue
        const name = stringAt(resource, 'resource')
        try {
          await deleteCollection(
            transport,
            service,
            `/apis/${group}/${version}/namespaces/${namespace}/${name}`,
            item => remaining.add(`${name}.${group}`, item),
          )
        } catch (error) {
          remaining.failures.push(error instanceof Error ? error.message : String(error))
        }
      }
    }
  },
})

const isDeletable = (resource: ValueObject): boolean => {
  const verbs = stringsAt(resource, 'verbs')
  return stringAt(resource, 'scope') === 'Namespaced' && verbs.includes('deletecollection') && verbs.includes('list')
}

/** Calls `remains` with each object that is still there. */
async function deleteCollection(
  transport: Transport,
  service: RemoteService,
  path: string,
  remains: (object: ValueObject) => void,
): Promise<void> {
  const list = async (): Promise<readonly ValueObject[]> => {
    const options = { user: USER, headers: JSON_ONLY, timeoutMs: TIMEOUT_MS }
    const response = await transport.get(service, `${path}?limit=500`, options)
    // The resource was removed meanwhile.
    if (response.status === 404) return []
    if (response.status !== 200) throw new Error(`${path} cannot be listed: it is answered with ${response.status}`)
    return objectsAt(jsonOf(response), 'items')
  }
  if ((await list()).length === 0) return
  const { status } = await transport.get(service, `${path}?propagationPolicy=Background`, {
    method: 'DELETE',
    user: USER,
    headers: JSON_ONLY,
    timeoutMs: TIMEOUT_MS,
  })
  if (status >= 300) throw new Error(`${path} cannot be deleted: it is answered with ${status}`)
  for (const item of await list()) remains(item)
}

const JSON_ONLY = { accept: 'application/json' }
