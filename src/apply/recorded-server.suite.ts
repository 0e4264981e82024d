// A server just large enough to replay the recorded applies through this room alone: definitions, objects, pruning and
// defaults as far as those scenarios need them, and no validation.

import { builtinKinds } from '../builtin/builtin-kinds.js'
import type { Kind, KindVersion, SubresourceStrategy } from '../kinds/kind.js'
import { notFound, StatusError } from '../meta/errors/status.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { RANDOM_IDS } from '../meta/object/ids.js'
import { metaForCreate, metaForUpdate, metaOf } from '../meta/object/object-meta.js'
import { copyValue, equalValues, getOwn, isObject, setOwn, type Value, type ValueObject } from '../meta/values/value.js'
import { type MergeType, mergeTypeOf } from '../types/merge.js'
import { decodeObjectMeta } from '../types/object-meta.js'
import { builtinTypes } from '../types/type-table.js'
import { customMergeType } from './custom-merge-type.suite.js'
import {
  applyConfiguration,
  keepTimes,
  type ManagedType,
  managerName,
  NotOfType,
  trackUpdate,
} from './field-manager.js'
import { emptyObject, managedType, scaleManagedType } from './managed-type.js'
import { resetFields } from './managers/reset-fields.js'
import { entriesAfterScale, SCALE_VERSION, scaleEntries } from './managers/scale-entries.js'
import { fieldElement } from './paths/field-path.js'
import { EMPTY, fieldSet } from './paths/field-set.js'

export interface Step {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: Value
  readonly sleep?: number
  readonly pick?: readonly string[]
  readonly unchecked?: boolean
  readonly expect?: { readonly status: number; readonly body: Value }
}

export interface Answer {
  readonly status: number
  readonly body: Value
}

interface Writer {
  readonly manager: string
  readonly force: boolean
}

/** Kinds as this server serves them. */
interface Served {
  readonly kind: string
  readonly plural: string
  readonly isBuiltin: boolean
  readonly builtin?: { readonly kind: Kind; readonly version: KindVersion }
  readonly storageVersion: string
  /** By apiVersion. */
  readonly versions: Readonly<Record<string, ServedVersion>>
}

interface ServedVersion {
  readonly schema: MergeType
  readonly hasStatus: boolean
  readonly hasScale: boolean
  readonly shape: (object: ApiObject) => ApiObject
  readonly prepareForCreate: (object: ApiObject, now: number) => ApiObject
  readonly prepareForUpdate: (object: ApiObject, old: ApiObject, subresource: string, now: number) => ApiObject
}

export interface RecordedServer {
  answer(step: Step): Promise<Answer>
  /** Lets time pass. */
  sleep(millis: number): void
}

const BUILTINS: readonly Kind[] = builtinKinds(builtinTypes())

export function recordedServer(): RecordedServer {
  const custom = new Map<string, Served>()
  const definitions = new Map<string, ApiObject>()
  const store = new Map<string, ApiObject>()
  let now = Date.parse('2026-01-01T00:00:00Z')
  let revision = 0
  let uids = 0

  const put = (key: string, object: ApiObject): ApiObject => {
    const stored = withMetadata(object, { resourceVersion: String(++revision) })
    store.set(key, copyValue(stored))
    return stored
  }

  async function write({ method = '', path = '', headers = {}, body = null }: Step): Promise<Answer> {
    const url = new URL(path, 'http://server')
    const at = parsePath(url.pathname)
    if (!at) throw new Error(`no such path ${path}`)
    const { apiVersion, plural, namespace, subresource } = at
    const media = headers['content-type'] ?? 'application/json'
    const manager = managerName(url.searchParams.get('fieldManager') ?? '', headers['user-agent'] ?? 'conformance')
    const force = url.searchParams.get('force') === 'true'
    const dryRun = url.searchParams.get('dryRun') === 'All'
    const group = apiVersion.includes('/') ? apiVersion.split('/')[0]! : ''
    const isApply = media.startsWith('application/apply-patch')

    if (plural === 'customresourcedefinitions') return define(method, at.name, media, body, { manager, force })
    const served =
      group === '' || !custom.has(`${plural}.${group}`) ? builtin(apiVersion, plural) : custom.get(`${plural}.${group}`)
    const version = served?.versions[apiVersion]
    if (!served || !version) throw new Error(`nothing is served at ${path}`)
    const name = at.name === '' ? String(metaOf(body as ApiObject).name) : at.name
    const key = `${group}/${plural}/${namespace}/${name}`
    const stored = store.get(key)
    const convert = (object: ApiObject, to: string): ApiObject =>
      served.versions[to]!.shape({ ...copyValue(object), apiVersion: to })
    const live = stored && convert(stored, apiVersion)
    const type = typeOf(served, version, apiVersion, subresource, convert)
    const missing = notFound({ group, resource: plural }, name)

    if (subresource === 'scale' && version.hasScale) {
      if (!live) throw missing
      return writeScale(key, live, served.isBuiltin, method, isApply, body, { manager, force })
    }
    if (method === 'GET') {
      if (!live) throw missing
      return { status: 200, body: live }
    }
    if (method === 'DELETE') {
      if (!live) throw missing
      if ((metaOf(live).finalizers ?? []).length === 0) {
        store.delete(key)
        return { status: 200, body: null }
      }
      const going = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 }
      return {
        status: 200,
        body: put(key, withMetadata(live, { ...going, generation: Number(metaOf(live).generation) + 1 })),
      }
    }
    if (method !== 'POST' && !isApply && !live) throw missing
    if (subresource !== '' && !live) throw missing

    let next: ApiObject
    if (isApply) {
      const applied = await applyConfiguration(type, live, copyValue(body) as ValueObject, {
        manager,
        force,
        now,
        decodeMerged: object => version.shape(object),
      })
      next = applied.object
    } else {
      const sent = copyValue(method === 'PATCH' ? patched(live!, body, media) : body) as ApiObject
      next = await trackUpdate(type, method === 'POST' ? undefined : live, version.shape(sent), manager, now)
    }
    if (!live) {
      const complete = version.prepareForCreate(
        withMetadata(next, {
          ...metaForCreate(metaOf(next), now, RANDOM_IDS),
          namespace: namespace === '' ? undefined : namespace,
          uid: `uid-${++uids}`,
        }),
        now,
      )
      if (!dryRun) put(key, convert(complete, served.storageVersion))
      return { status: 201, body: dryRun ? complete : convert(store.get(key)!, apiVersion) }
    }
    const meta = metaForUpdate(metaOf(next), metaOf(live))
    const changed = version.prepareForUpdate(
      withMetadata(next, { ...meta, namespace: metaOf(live).namespace, uid: metaOf(live).uid }),
      live,
      subresource,
      now,
    )
    const seen = withMetadata(changed, { resourceVersion: metaOf(live).resourceVersion })
    const result = withMetadata(keepTimes(seen, live), { selfLink: undefined })
    if (dryRun || equalValues(result, live)) return { status: 200, body: result }
    if (metaOf(result).deletionTimestamp !== undefined && (metaOf(result).finalizers ?? []).length === 0) {
      store.delete(key)
      return { status: 200, body: result }
    }
    put(key, convert(result, served.storageVersion))
    return { status: 200, body: convert(store.get(key)!, apiVersion) }
  }

  async function writeScale(
    key: string,
    live: ApiObject,
    isBuiltin: boolean,
    method: string,
    isApply: boolean,
    body: Value,
    { manager, force }: Writer,
  ): Promise<Answer> {
    const paths = new Map([[live.apiVersion, ['f:spec', 'f:replicas']]])
    const { name, namespace, uid, resourceVersion, creationTimestamp } = metaOf(live)
    const spec = live['spec'] as ValueObject
    const scale = {
      apiVersion: SCALE_VERSION,
      kind: 'Scale',
      metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
      spec: { replicas: spec['replicas'] ?? 0 },
      status: { replicas: 0 },
    } as unknown as ApiObject
    if (method === 'GET') return { status: 200, body: scale }
    const entries = metaOf(live).managedFields ?? []
    const managed = withMetadata(scale, { managedFields: scaleEntries(entries, paths) })
    const type = scaleManagedType(builtinTypes())
    let next: ApiObject
    if (isApply) {
      const decodeMerged = (object: ApiObject): ApiObject => {
        if (isBuiltin) return object
        throw new NotOfType('request to convert CR to an invalid group/version: autoscaling/v1')
      }
      next = (await applyConfiguration(type, managed, body as ValueObject, { manager, force, now, decodeMerged }))
        .object
    } else {
      const sent = (method === 'PATCH' ? patched(managed, body, 'application/merge-patch+json') : body) as ApiObject
      const meta = { ...(managed.metadata as object), ...(sent.metadata as object) } as ValueObject
      next = await trackUpdate(type, managed, { ...sent, metadata: meta }, manager, now)
    }
    const after = entriesAfterScale(entries, metaOf(next).managedFields ?? [], paths, live.apiVersion)
    const replicas = ((next['spec'] ?? {}) as ValueObject)['replicas'] ?? 0
    const generation = Number(metaOf(live).generation) + (equalValues(replicas, spec['replicas']) ? 0 : 1)
    const object = withMetadata({ ...live, spec: { ...spec, replicas } }, { managedFields: after, generation })
    const stored = equalValues(object, live) ? live : put(key, object)
    return {
      status: 200,
      body: withMetadata({ ...scale, spec: { replicas } }, { resourceVersion: metaOf(stored).resourceVersion }),
    }
  }

  async function define(method: string, name: string, media: string, body: Value, by: Writer): Promise<Answer> {
    const live = definitions.get(name)
    if (method === 'GET') return { status: 200, body: live! }
    const apiVersion = 'apiextensions.k8s.io/v1'
    const kind = 'CustomResourceDefinition'
    const definitionType = builtinTypes().ofKind(apiVersion, kind)!
    const type: ManagedType = {
      apiVersion,
      kind,
      subresource: '',
      typeOf: version => (version === apiVersion ? mergeTypeOf(definitionType) : undefined),
      convert: object => object,
      resets: () => fieldSet([fieldElement('status')]),
      empty: () => emptyObject(definitionType, apiVersion, kind),
    }
    let definition: ApiObject
    if (media.startsWith('application/apply')) {
      const request = { ...by, now, decodeMerged: (object: ApiObject): ApiObject => object }
      definition = (await applyConfiguration(type, live, body as ValueObject, request)).object
    } else {
      const sent = copyValue(method === 'POST' ? body : patched(live!, body, media)) as ApiObject
      definition = await trackUpdate(type, live, sent, by.manager, now)
    }
    const id = String(metaOf(definition).name)
    definitions.set(id, definition)
    custom.set(id, servedBy(definition))
    return { status: live ? 200 : 201, body: definition }
  }

  return {
    async answer(step) {
      try {
        return await write(step)
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        return { status: error.status.code ?? 500, body: error.status as unknown as Value }
      }
    },
    sleep(millis) {
      now += millis
    },
  }
}

/** The status of a custom object: its endpoint leaves spec and metadata alone. */
const CUSTOM_STATUS: SubresourceStrategy = {
  prepareForUpdate: object => object,
  validateUpdate: () => [],
  resetFields: ['spec', 'metadata'],
}

function typeOf(
  served: Served,
  version: ServedVersion,
  apiVersion: string,
  subresource: string,
  convert: (object: ApiObject, to: string) => ApiObject,
): ManagedType {
  if (served.builtin) return managedType(served.builtin.kind, served.builtin.version, subresource)
  const status = version.hasStatus ? CUSTOM_STATUS : undefined
  const resets = resetFields({ status }, subresource)
  return {
    apiVersion,
    kind: served.kind,
    subresource,
    typeOf: at => served.versions[at]?.schema,
    convert,
    resets: at => (at === apiVersion ? resets : EMPTY),
    empty: () => ({ apiVersion, kind: served.kind }),
  }
}

// ---- kinds

function builtin(apiVersion: string, plural: string): Served | undefined {
  const [group, name] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const kind = BUILTINS.find(each => each.group === group && each.names.plural === plural)
  const version = kind?.versions.find(each => each.name === name)
  if (!kind || !version) return undefined
  const { strategy: rules, subresources } = version
  return {
    kind: kind.names.kind,
    plural,
    isBuiltin: true,
    builtin: { kind, version },
    storageVersion: apiVersion,
    versions: {
      [apiVersion]: {
        schema: mergeTypeOf(version.type),
        hasStatus: subresources.status !== undefined,
        hasScale: subresources.scale !== undefined,
        shape: object => rules.applyDefaults(rules.decode(object, []).object),
        prepareForCreate: (object, now) => rules.prepareForCreate(object, now),
        prepareForUpdate: (object, old, subresource, now) =>
          statusRules(version, subresource).prepareForUpdate(object, old, now),
      },
    },
  }
}

const statusRules = ({ strategy: rules, subresources }: KindVersion, subresource: string) =>
  subresource === 'status' ? subresources.status! : rules

function servedBy(definition: ApiObject): Served {
  const spec = definition['spec'] as ValueObject
  const versions = spec['versions'] as ValueObject[]
  const names = spec['names'] as ValueObject
  const storage = versions.find(version => version['storage'] === true)!
  return {
    kind: text(names['kind']),
    plural: text(names['plural']),
    isBuiltin: false,
    storageVersion: `${text(spec['group'])}/${text(storage['name'])}`,
    versions: Object.fromEntries(
      versions.map(version => [`${text(spec['group'])}/${text(version['name'])}`, customVersion(version)]),
    ),
  }
}

function customVersion(version: ValueObject): ServedVersion {
  const schema = (version['schema'] as ValueObject)['openAPIV3Schema']!
  const subresources = (version['subresources'] ?? {}) as ValueObject
  const hasStatus = Object.hasOwn(subresources, 'status')
  return {
    schema: customMergeType(schema),
    hasStatus,
    hasScale: Object.hasOwn(subresources, 'scale'),
    shape(object) {
      const { apiVersion, kind, metadata, ...rest } = object
      const meta = decodeObjectMeta(metadata)
      if (!meta.ok) throw new Error(meta.error)
      const shaped = shapeBy(schema, rest) as ValueObject
      return { apiVersion, kind, metadata: meta.value.value, ...shaped }
    },
    prepareForCreate(object) {
      const { status, ...rest } = object
      const kept = hasStatus || status === undefined ? rest : { ...rest, status }
      return withMetadata(kept, { generation: 1 })
    },
    prepareForUpdate(object, old, subresource) {
      if (subresource === 'status') {
        const { status } = object
        const { status: _, ...rest } = old
        const changed = { ...rest, ...(status === undefined ? {} : { status }) } as ApiObject
        return withMetadata(changed, { managedFields: metaOf(object).managedFields })
      }
      const { status: sent, ...rest } = object
      const status = hasStatus ? old['status'] : sent
      const changed = { ...rest, ...(status === undefined ? {} : { status }) } as ApiObject
      const isNew = !equalValues(partsOf(changed), partsOf(old))
      return withMetadata(changed, { generation: Number(metaOf(old).generation) + (isNew ? 1 : 0) })
    },
  }
}

/** What counts up the generation. */
function partsOf(object: ApiObject): Value {
  const { metadata: _, status: __, ...parts } = object
  return parts
}

/** Prunes and sets defaults. */
function shapeBy(schema: Value, value: Value): Value {
  if (!isObject(schema)) return value
  if (Array.isArray(value)) return value.map(item => shapeBy(schema['items'] ?? null, item))
  if (!isObject(value)) return value
  const properties = (schema['properties'] ?? {}) as ValueObject
  const others = schema['additionalProperties']
  const keeps = schema['x-kubernetes-preserve-unknown-fields'] === true
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const result: ValueObject = {}
  for (const [name, member] of Object.entries(value)) {
    const inner = getOwn(properties, name) ?? (isObject(others) ? others : undefined)
    if (inner !== undefined) setOwn(result, name, shapeBy(inner, member))
    else if (keeps || isEmbedded) setOwn(result, name, member)
  }
  for (const [name, property] of Object.entries(properties)) {
    if (isObject(property) && !Object.hasOwn(result, name) && property['default'] !== undefined) {
      setOwn(result, name, copyValue(property['default']))
    }
  }
  return result
}

// ---- requests

function parsePath(path: string) {
  const found =
    /^\/(?:api\/(?<core>v[^/]*)|apis\/(?<group>[^/]+)\/(?<version>[^/]+))(?:\/namespaces\/(?<namespace>[^/]+)(?=\/[^/]+s\b))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>[^/]+))?$/.exec(
      path,
    )
  if (!found?.groups) return undefined
  const { core, group, version, namespace = '', plural = '', name = '', subresource = '' } = found.groups
  const at = { apiVersion: core ?? `${group}/${version}`, namespace, plural, name, subresource }
  // /api/v1/namespaces/x/status is about the namespace.
  if (plural === 'status' && namespace !== '')
    return { ...at, plural: 'namespaces', name: namespace, namespace: '', subresource: 'status' }
  return at
}

function patched(live: ApiObject, patch: Value, media: string): Value {
  return media.includes('json-patch') ? jsonPatched(live, patch as ValueObject[]) : mergePatched(live, patch)
}

function mergePatched(value: Value | undefined, patch: Value): Value {
  if (!isObject(patch)) return patch
  const result: ValueObject = isObject(value) ? { ...value } : {}
  for (const [name, member] of Object.entries(patch)) {
    if (member === null) delete result[name]
    else setOwn(result, name, mergePatched(getOwn(result, name), member))
  }
  return result
}

function jsonPatched(live: ApiObject, operations: readonly ValueObject[]): Value {
  const object = copyValue(live)
  for (const { op, path, value = null } of operations) {
    const steps = text(path).split('/').slice(1)
    const last = steps.pop()!
    let at: Value = object
    for (const step of steps) at = (at as ValueObject)[step]!
    if (op === 'remove' && Array.isArray(at)) at.splice(Number(last), 1)
    else if (op === 'remove') delete (at as ValueObject)[last]
    else if (op !== 'test') (at as ValueObject)[last] = value
  }
  return object
}

/** Members that are undefined go. */
function withMetadata(object: ApiObject, members: object): ApiObject {
  const metadata: ValueObject = { ...(isObject(object.metadata) ? object.metadata : {}) }
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined || (Array.isArray(value) && value.length === 0)) delete metadata[name]
    else metadata[name] = value as Value
  }
  return { ...object, metadata }
}

const text = (value: Value | undefined): string => (typeof value === 'string' ? value : '')
