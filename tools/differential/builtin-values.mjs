// Objects of built-in kinds: from the type table, and from the recordings.
import { readdirSync, readFileSync } from 'node:fs'
import { hostileValue } from './mutations.mjs'

const readData = name => JSON.parse(readFileSync(new URL(`../../data/${name}.json`, import.meta.url), 'utf8'))
const served = readData('builtin-kinds')
const optional = readData('optional-kinds')
const table = {
  types: { ...served.types, ...optional.types },
  kinds: { ...served.kinds, ...optional.kinds },
}
const recordings = new URL('../../test/conformance/recordings/', import.meta.url)

/** The resources that objects are stored of: `{ apiVersion, name, kind, namespaced, verbs, subresources }`. */
const resourcesOf = data =>
  Object.entries(data.resources).flatMap(([apiVersion, resources]) =>
    resources
      .filter(({ name, verbs }) => !name.includes('/') && verbs.includes('create') && verbs.includes('get'))
      .map(({ name: plural, kind, namespaced }) => ({
        apiVersion,
        name: plural,
        kind,
        namespaced,
        subresources: resources.flatMap(({ name }) =>
          name.startsWith(`${plural}/`) ? [name.slice(plural.length + 1)] : [],
        ),
      })),
  )

export const RESOURCES = resourcesOf(served)

/** Those of versions that are served only where --runtime-config switches them on. */
export const OPTIONAL_RESOURCES = resourcesOf(optional)

export const readScenarios = () =>
  readdirSync(recordings)
    .filter(name => name.endsWith('.json'))
    .toSorted()
    .flatMap(name => JSON.parse(readFileSync(new URL(name, recordings), 'utf8')).scenarios)

/** By `apiVersion kind`, the bodies that were accepted by a create. */
export function recordedBodies(scenarios) {
  const bodies = new Map()
  for (const { steps } of scenarios) {
    for (const { method, body, expect } of steps) {
      if (method !== 'POST' || expect?.status !== 201 || typeof body?.kind !== 'string') continue
      const key = `${body.apiVersion} ${body.kind}`
      bodies.set(key, [...(bodies.get(key) ?? []), body])
    }
  }
  return bodies
}

let recorded

/** Bodies that were accepted by a create of a resource: those of samples.json first, then the recorded ones. */
export function samplesOf({ apiVersion, kind }) {
  recorded ??= recordedBodies(readScenarios())
  const own = SAMPLES.filter(body => body.apiVersion === apiVersion && body.kind === kind)
  return [...own, ...(recorded.get(`${apiVersion} ${kind}`) ?? [])]
}

const SAMPLES = JSON.parse(readFileSync(new URL('samples.json', import.meta.url), 'utf8'))

/** The type of a kind, or the type of a name: its fields. */
export const typeOf = of => table.types[typeof of === 'string' ? of : table.kinds[`${of.apiVersion} ${of.kind}`]]

/** A random value of a type. */
export const valueOfType = (random, type, name, chances) => valueOf(random, type, name, chances, 2)

/** A random object of a kind. Fields are set with `density`, and hold a hostile value with `hostility`. */
export function randomObject(random, { apiVersion, kind }, name, { density = 0.15, hostility = 0.02 } = {}) {
  const type = table.kinds[`${apiVersion} ${kind}`]
  const object = structOf(random, type, { density, hostility }, 0)
  const { generateName: _, managedFields: __, ownerReferences: ___, ...metadata } = object.metadata ?? {}
  return { ...object, apiVersion, kind, metadata: { ...metadata, name, namespace: undefined } }
}

const MAX_DEPTH = 7

function structOf(random, typeName, chances, depth) {
  const type = table.types[typeName]
  if (!type) return specialOf(random, typeName)
  const object = {}
  const isUnion = type.fields.length > 5 && type.fields.every(field => field.pointer && !field.inline)
  const only = isUnion ? random.pick(type.fields) : undefined
  for (const field of type.fields) {
    if (field.inline) Object.assign(object, structOf(random, field.type, chances, depth))
    else if (only ? field === only : !field.omitempty || random.chance(depth === 0 ? 0.7 : chances.density)) {
      if (field.name === 'status' && depth === 0) continue
      object[field.name] = fieldValue(random, field, chances, depth + 1)
    }
  }
  return object
}

function fieldValue(random, field, chances, depth) {
  if (random.chance(chances.hostility)) return hostileValue(random)
  if (field.enum && random.chance(0.9)) return random.pick(field.enum)
  return valueOf(random, field.type, field.name, chances, depth)
}

function valueOf(random, type, name, chances, depth) {
  if (type.startsWith('[]')) {
    if (depth > MAX_DEPTH) return []
    return random.times(random.between(1, 2), () => valueOf(random, type.slice(2), name, chances, depth + 1))
  }
  if (type.startsWith('{string}')) {
    return Object.fromEntries(
      random.times(random.between(1, 2), () => [
        random.pick(KEYS[name] ?? KEYS.default),
        valueOf(random, type.slice('{string}'.length), name, chances, depth + 1),
      ]),
    )
  }
  switch (type) {
    case 'string':
      return random.pick(TEXTS[name] ?? TEXTS.default)
    case 'bool':
      return random.chance(0.5)
    case 'int32':
    case 'int64':
      return /port/i.test(name) ? random.pick([80, 443, 8080]) : random.pick([0, 1, 2, 5, 100])
    case 'float64':
      return random.pick([0, 1.5, 2])
    case 'bytes':
      return random.pick(['', 'aGk=', 'AAEC'])
    default:
      return depth > MAX_DEPTH ? {} : structOf(random, type, chances, depth)
  }
}

const KEYS = {
  limits: ['cpu', 'memory'],
  requests: ['cpu', 'memory'],
  default: ['a', 'app', 'example.com/x', 'cpu'],
}
const TEXTS = {
  name: ['a', 'web', 'x-1'],
  image: ['nginx', 'nginx:1.2', ''],
  ip: ['10.0.0.1', '::1'],
  path: ['/', '/x'],
  host: ['example.com', 'x'],
  apiVersion: ['v1', 'apps/v1'],
  kind: ['Pod', 'ConfigMap', 'Service'],
  schedule: ['* * * * *', '@daily'],
  key: ['a', 'example.com/key'],
  operator: ['In', 'Exists', 'Equal'],
  protocol: ['TCP', 'UDP'],
  default: ['a', 'b', 'example.com', 'a.b', ''],
}

function specialOf(random, type) {
  switch (type) {
    case 'meta/v1.Time':
    case 'meta/v1.MicroTime':
      return random.pick(['2024-01-02T03:04:05Z', '2024-01-02T03:04:05.123456Z', null])
    case 'api/resource.Quantity':
      return random.pick(['1', '100m', '1Gi', '0', '1.5', '1e3', 2])
    case 'util/intstr.IntOrString':
      return random.pick([1, '50%', 'http', 80])
    case 'meta/v1.Duration':
      return random.pick(['1s', '1h0m0s'])
    default:
      return random.pick([{}, { a: 1 }, 'x'])
  }
}
