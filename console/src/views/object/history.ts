// The revisions of an object that the server still keeps.
import { useEffect, useState } from 'preact/hooks'
import { getJson, getText, query } from '../../api/client.js'
import { type ApiObject, collectionPath, groupVersion, type Resource } from '../../api/resource.js'
import { readYaml, type Value, valueAt, withValue } from '../../yaml/yaml-document.js'

export interface Revision {
  readonly resourceVersion: string
  readonly time: string
  readonly managers: readonly string[]
  readonly changes: readonly { readonly field: string; readonly before?: unknown; readonly after?: unknown }[]
  readonly object: ApiObject
}

export interface History {
  readonly revisions: readonly Revision[]
  /** The last one is the creation. */
  readonly complete: boolean
}

export const MAX_REVISIONS = 100

/** Newest first. Read again when the object changes. */
export function useHistory(path: string, resourceVersion: string): { history: History | undefined; error: unknown } {
  const [history, setHistory] = useState<History | undefined>(undefined)
  const [error, setError] = useState<unknown>(undefined)
  useEffect(() => {
    const controller = new AbortController()
    getJson<History>(`/console/api/history${query({ path, limit: MAX_REVISIONS })}`, {
      signal: controller.signal,
    }).then(
      found => {
        setHistory(found)
        setError(undefined)
      },
      (reason: unknown) => controller.signal.aborted || setError(reason),
    )
    return () => controller.abort()
  }, [path, resourceVersion])
  return { history, error }
}

/** The object at a revision, read as YAML: numbers keep all of their digits, as they must when it is written again. */
export async function readRevision(
  resource: Resource,
  { metadata }: ApiObject,
  resourceVersion: string,
): Promise<Value> {
  const exact = { fieldSelector: `metadata.name=${metadata.name}`, resourceVersion, resourceVersionMatch: 'Exact' }
  const path = collectionPath(resource, metadata.namespace ?? '') + query(exact)
  const { value } = readYaml(await getText(path, { accept: 'application/yaml' }))
  const item = valueAt(value, ['items', 0])
  if (item === undefined) throw new Error(`The server no longer keeps revision ${resourceVersion}.`)
  const typed = withValue(withValue(item, ['apiVersion'], groupVersion(resource)), ['kind'], resource.kind)
  return withValue(typed, ['metadata', 'managedFields'], undefined)
}
