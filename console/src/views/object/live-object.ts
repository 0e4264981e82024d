// One object, kept true by a watch of its name.
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../api/client.js'
import { listWatch } from '../../api/list-watch.js'
import { getObject } from '../../api/objects.js'
import { type ApiObject, collectionPath, groupVersion, objectPath, type Resource } from '../../api/resource.js'

export interface LiveObject {
  readonly object: ApiObject | undefined
  /** The object was there and is gone. */
  readonly isDeleted: boolean
  readonly error: unknown
}

const POLL_MS = 5000

interface ObjectList {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items: readonly ApiObject[]
}

export function useLiveObject(resource: Resource, namespace: string, name: string): LiveObject {
  const [state, setState] = useState<LiveObject>({ object: undefined, isDeleted: false, error: undefined })
  useEffect(() => {
    const controller = new AbortController()
    // Items of a list have no type of their own.
    const type = { apiVersion: groupVersion(resource), kind: resource.kind }
    const show = (object: ApiObject): void =>
      setState({ object: { ...type, ...object }, isDeleted: false, error: undefined })
    const fail = (error: unknown): void => {
      if (error instanceof ApiError && error.code === 403)
        void poll(objectPath(resource, namespace, name), controller.signal, show, fail)
      else setState(before => ({ ...before, error }))
    }
    setState({ object: undefined, isDeleted: false, error: undefined })
    void listWatch<ObjectList, ApiObject>(
      { path: collectionPath(resource, namespace), fieldSelector: `metadata.name=${name}` },
      {
        page: ({ items }) => {
          const [found] = items
          if (found !== undefined) show(found)
          else
            setState(({ object }) => ({
              object,
              isDeleted: object !== undefined,
              error: object === undefined ? notFound(resource, namespace, name) : undefined,
            }))
        },
        event: ({ type: change, object }) => {
          if (change === 'ADDED' || change === 'MODIFIED') show(object)
          else if (change === 'DELETED') setState({ object: { ...type, ...object }, isDeleted: true, error: undefined })
        },
        state: next => {
          if (next.phase === 'failed') fail(next.error)
        },
      },
      controller.signal,
    )
    return () => controller.abort()
  }, [resource, namespace, name])
  return state
}

function notFound({ kind }: Resource, namespace: string, name: string): ApiError {
  const message = `There is no ${kind} ${name}${namespace === '' ? '' : ` in namespace ${namespace}`}.`
  return new ApiError({ kind: 'Status', code: 404, reason: 'NotFound', message })
}

/** Where the user may get the object and not watch it. */
async function poll(
  path: string,
  signal: AbortSignal,
  show: (object: ApiObject) => void,
  fail: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      show(await getObject(path, signal))
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.code === 403) {
        fail(new ApiError({ ...error.status, code: 0 }))
        return
      }
      fail(error)
    }
    await new Promise(resolve => setTimeout(resolve, POLL_MS))
  }
}
