// Waiting for the state of an object.
import { refuseUnknownFields } from '../base/known-fields.js'
import { type Fetch, readObject } from './fetch.js'
import type { KubernetesObject } from './kinds.js'
import { eventsOf } from './watch.js'

/** `deleted`, `exists`, the type of a condition that must be True (`Ready`), or a function. */
export type Condition<T = KubernetesObject> = 'deleted' | 'exists' | (string & {}) | ((object: T) => boolean)

export interface WaitOptions {
  /** 10 seconds by default. */
  readonly timeoutMs?: number
}

interface Awaited {
  readonly collection: string
  readonly kind: string
  readonly name: string
}

/** Resolves with the object as soon as the condition holds; with its last state if it was deleted. */
export async function waitUntil<T = KubernetesObject>(
  fetch: Fetch,
  { collection, kind, name }: Awaited,
  condition: Condition<T>,
  options: WaitOptions = {},
): Promise<T | undefined> {
  refuseUnknownFields('waitFor', options, ['timeoutMs'])
  const { timeoutMs = 10_000 } = options
  const selector = encodeURIComponent(`metadata.name=${name}`)
  const query = `?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`
  const abort = new AbortController()
  const timer = setTimeout(() => abort.abort(), timeoutMs)
  let last: T | undefined
  try {
    const response = await fetch(`${collection}${query}&fieldSelector=${selector}`, { signal: abort.signal })
    if (!response.ok) await readObject(response)
    for await (const { type, object } of eventsOf(response)) {
      if (type === 'ADDED' || type === 'MODIFIED') last = object as T
      const isGone = type === 'DELETED' || (type === 'BOOKMARK' && last === undefined)
      if (isGone ? condition === 'deleted' : last !== undefined && holds(last, condition)) return last
      if (type === 'DELETED') last = undefined
    }
  } catch (error) {
    if (!abort.signal.aborted) throw error
  } finally {
    clearTimeout(timer)
    abort.abort()
  }
  const state = last === undefined ? 'it does not exist' : `its last state:\n${JSON.stringify(last, undefined, 2)}`
  throw new Error(`${kind} ${name} did not become ${describe(condition)} within ${timeoutMs} ms; ${state}`)
}

const describe = (condition: Condition<never>): string =>
  typeof condition === 'string' ? condition : 'as the function wants'

function holds<T>(object: T, condition: Condition<T>): boolean {
  if (typeof condition === 'function') return condition(object)
  if (condition === 'exists') return true
  if (condition === 'deleted') return false
  const conditions = (object as { readonly status?: { readonly conditions?: unknown } }).status?.conditions
  return (
    Array.isArray(conditions) &&
    conditions.some(({ type, status }: { type?: unknown; status?: unknown }) => type === condition && status === 'True')
  )
}
