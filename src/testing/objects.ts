// What a test does with objects: apply manifests, read them, wait for a condition.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../base/usage-error.js'
import { decodeYaml } from '../codec/yaml.js'
import type { Registry } from '../kinds/registry.js'
import { parseGroupVersion } from '../meta/group-version.js'
import { ApiError, type Fetch, type KubernetesObject, readObject } from './client.js'

/** An object, a list of them, YAML or JSON with one or more documents, or the path of a file or folder. */
export type Manifest = object | readonly object[] | string

export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

/** `deleted`, `exists`, the type of a condition that must be True (`Ready`), or a function. */
export type Condition = 'deleted' | 'exists' | (string & {}) | ((object: KubernetesObject) => boolean)

export interface WaitOptions {
  /** 10 seconds by default. */
  readonly timeoutMs?: number
}

export interface TestObjects {
  /** Server-side apply of every object, definitions and namespaces first. */
  apply(manifest: Manifest): Promise<KubernetesObject[]>
  get(reference: ObjectReference): Promise<KubernetesObject>
  delete(reference: ObjectReference): Promise<void>
  /** Resolves with the object as soon as the condition holds; with its last state if it was deleted. */
  waitFor(
    reference: ObjectReference,
    condition: Condition,
    options?: WaitOptions,
  ): Promise<KubernetesObject | undefined>
}

const FIELD_MANAGER = 'binnacle-testing'

export function createTestObjects(fetch: Fetch, registry: () => Promise<Registry>): TestObjects {
  async function pathOf({
    apiVersion,
    kind,
    metadata,
  }: ObjectReference): Promise<{ collection: string; name: string }> {
    const parsed = parseGroupVersion(apiVersion)
    if (!parsed.ok) throw new UsageError(`apiVersion: ${JSON.stringify(apiVersion)}: ${parsed.error}`)
    const { group, version } = parsed.value
    const found = (await registry()).findKind(group, kind)
    if (!found) throw new UsageError(`the server has no kind ${kind} in ${apiVersion}; apply its definition first`)
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const scope = found.namespaced ? `/namespaces/${metadata.namespace ?? 'default'}` : ''
    return { collection: `${root}${scope}/${found.names.plural}`, name: encodeURIComponent(metadata.name) }
  }

  async function applyOne(object: ObjectReference): Promise<KubernetesObject> {
    const { collection, name } = await pathOf(object)
    const response = await fetch(`${collection}/${name}?fieldManager=${FIELD_MANAGER}&force=true`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: JSON.stringify(object),
    })
    return readObject(response)
  }

  const get = async (reference: ObjectReference): Promise<KubernetesObject> => {
    const { collection, name } = await pathOf(reference)
    return readObject(await fetch(`${collection}/${name}`))
  }

  return {
    get,
    async apply(manifest) {
      const objects = (await readManifest(manifest)).map(checkObject)
      const applied = new Map<ObjectReference, KubernetesObject>()
      for (const object of objects.toSorted((a, b) => order(a) - order(b))) applied.set(object, await applyOne(object))
      return objects.map(object => applied.get(object)!)
    },
    async delete(reference) {
      const { collection, name } = await pathOf(reference)
      await readObject(await fetch(`${collection}/${name}`, { method: 'DELETE' }))
    },
    async waitFor(reference, condition, { timeoutMs = 10_000 } = {}) {
      const { collection } = await pathOf(reference)
      const selector = encodeURIComponent(`metadata.name=${reference.metadata.name}`)
      const query = `?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`
      const abort = new AbortController()
      const timer = setTimeout(() => abort.abort(), timeoutMs)
      let last: KubernetesObject | undefined
      try {
        const response = await fetch(`${collection}${query}&fieldSelector=${selector}`, { signal: abort.signal })
        if (!response.ok) await readObject(response)
        for await (const { type, object } of eventsOf(response)) {
          if (type === 'ADDED' || type === 'MODIFIED') last = object
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
      const { kind, metadata } = reference
      const state = last === undefined ? 'it does not exist' : `its last state:\n${JSON.stringify(last, undefined, 2)}`
      throw new Error(`${kind} ${metadata.name} did not become ${describe(condition)} within ${timeoutMs} ms; ${state}`)
    },
  }
}

const describe = (condition: Condition): string => (typeof condition === 'string' ? condition : 'as the function wants')

function holds(object: KubernetesObject, condition: Condition): boolean {
  if (typeof condition === 'function') return condition(object)
  if (condition === 'exists') return true
  if (condition === 'deleted') return false
  const conditions = (object['status'] as { readonly conditions?: unknown } | undefined)?.conditions
  return (
    Array.isArray(conditions) &&
    conditions.some(({ type, status }: { type?: unknown; status?: unknown }) => type === condition && status === 'True')
  )
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: KubernetesObject
}

/** The events of a watch, as they arrive. */
export async function* eventsOf(response: Response): AsyncGenerator<WatchEvent> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') yield JSON.parse(line) as WatchEvent
  }
}

/** Objects of these kinds are needed by those of others. */
const FIRST = ['CustomResourceDefinition', 'Namespace', 'ServiceAccount']

const order = ({ kind }: ObjectReference): number => {
  const index = FIRST.indexOf(kind)
  return index === -1 ? FIRST.length : index
}

async function readManifest(manifest: Manifest): Promise<unknown[]> {
  if (Array.isArray(manifest)) return manifest
  if (typeof manifest !== 'string') return [manifest]
  if (/[\n:{]/.test(manifest) && !(await exists(manifest))) return documentsOf(manifest)
  if ((await stat(manifest)).isDirectory()) {
    const names = (await readdir(manifest)).filter(name => /\.(ya?ml|json)$/.test(name)).toSorted()
    return (await Promise.all(names.map(name => readManifest(join(manifest, name))))).flat()
  }
  return documentsOf(await readFile(manifest, 'utf8'))
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** The items of a List count as documents. */
const documentsOf = (text: string): unknown[] =>
  text.split(/^---(?:[ \t].*)?$/m).flatMap(part => {
    const { value } = decodeYaml(Buffer.from(part))
    const { kind, items } = (value ?? {}) as { kind?: unknown; items?: unknown }
    return kind === 'List' && Array.isArray(items) ? items : value === null ? [] : [value]
  })

function checkObject(object: unknown): ObjectReference {
  const { apiVersion, kind, metadata } = (object ?? {}) as Partial<ObjectReference>
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof metadata?.name !== 'string') {
    throw new UsageError('a manifest needs apiVersion, kind and metadata.name')
  }
  return object as ObjectReference
}

export { ApiError }
