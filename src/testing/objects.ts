// What a test does with objects: apply manifests, read them, wait for a condition.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../base/usage-error.js'
import { decodeYaml } from '../codec/yaml.js'
import type { Registry } from '../kinds/registry.js'
import { collectionPath, FIELD_MANAGER, findResource } from './client.js'
import { type Fetch, readObject } from './fetch.js'
import type { KubernetesObject } from './kinds.js'
import { type Condition, type WaitOptions, waitUntil } from './wait.js'

/** An object, a list of them, YAML or JSON with one or more documents, or the path of a file or folder. */
export type Manifest = object | readonly object[] | string

export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
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

export function createTestObjects(fetch: Fetch, registry: () => Promise<Registry>): TestObjects {
  async function pathOf({
    apiVersion,
    kind,
    metadata,
  }: ObjectReference): Promise<{ collection: string; name: string }> {
    const found = await findResource(apiVersion, kind, registry)
    const collection = collectionPath(found, found.namespaced ? (metadata.namespace ?? 'default') : undefined)
    return { collection, name: encodeURIComponent(metadata.name) }
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
    async waitFor(reference, condition, options) {
      const { collection } = await pathOf(reference)
      const { kind, metadata } = reference
      return waitUntil(fetch, { collection, kind, name: metadata.name }, condition, options)
    },
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
