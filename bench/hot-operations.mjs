// The operations that clients repeat most, each as work for the load generator, on custom objects of about 1 KiB with one
// rule. `compare` and `quick` measure them.
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from './processes.mjs'

export const GROUP = 'bench.example.com'
const NAMESPACES = ['bench', 'bench-create', 'bench-watch']
const API = `/apis/${GROUP}/v1`
export const collectionOf = namespace => `${API}/namespaces/${namespace}/gadgets`
const OBJECTS = collectionOf('bench')
const CONFIG_MAPS = '/api/v1/namespaces/bench/configmaps'
const CREATED = collectionOf('bench-create')
const WATCHED = collectionOf('bench-watch')
export const WATCHERS = 200
const MERGE = { contentType: 'application/merge-patch+json' }
const APPLY = { contentType: 'application/apply-patch+yaml' }
const TABLE = { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }
const PROTOBUF = { accept: 'application/vnd.kubernetes.protobuf' }
const GZIP = { acceptEncoding: 'gzip' }

export const definition = (plural = 'gadgets', kind = 'Gadget') => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 0 },
                  limit: { type: 'integer', default: 100 },
                  text: { type: 'string' },
                  tags: { type: 'array', items: { type: 'string' } },
                },
                'x-kubernetes-validations': [{ rule: 'self.size <= self.limit', message: 'too large' }],
              },
            },
          },
        },
      },
    ],
  },
})

const gadget = (name, kind = 'Gadget', number = 'n0') => ({
  apiVersion: `${GROUP}/v1`,
  kind,
  metadata: { name, labels: { app: 'bench', object: number } },
  spec: { size: 3, text: 'v'.repeat(560), tags: ['red', 'green', 'blue'] },
})
const bodyOf = name => JSON.stringify(gadget(name, 'Gadget', 'n{}'))
const configMap = JSON.stringify({
  metadata: { name: 'config-{}', labels: { app: 'bench' } },
  data: { text: 'v'.repeat(560), number: '{}' },
})
const textPatch = text => JSON.stringify({ spec: { text: `{}-{round}${text.repeat(500)}` } })

const applied = {
  apiVersion: `${GROUP}/v1`,
  kind: 'Gadget',
  metadata: { name: 'object-{}' },
  spec: { size: 4, text: `a{}-{round}${'w'.repeat(200)}` },
}

/**
 * Each operation: `count` requests a round. `isNew`: the objects have other numbers than those of the round before; `within`:
 * they are objects that exist. `{round}` in a body is the number of the round, so that each write is a change. `after`: a
 * request that precedes each of them, and counts with it.
 */
export const OPERATIONS = [
  { name: 'get', path: `${OBJECTS}/object-{}`, count: 4000, spread: true, connections: 2, streams: 16 },
  { name: 'list of all', path: OBJECTS, count: 6, connections: 1, streams: 1 },
  {
    name: 'one object changed, then list of all',
    path: OBJECTS,
    count: 6,
    isNew: true,
    within: true,
    connections: 1,
    streams: 1,
    after: { method: 'PATCH', path: `${OBJECTS}/object-{}`, body: textPatch('c'), formats: MERGE },
  },
  { name: 'list of all, gzip', path: OBJECTS, formats: GZIP, count: 3, connections: 1, streams: 1 },
  { name: 'list of all as a Table', path: OBJECTS, formats: TABLE, count: 3, connections: 1, streams: 1 },
  {
    name: 'one object changed, then list as a Table',
    path: OBJECTS,
    formats: TABLE,
    count: 3,
    isNew: true,
    within: true,
    connections: 1,
    streams: 1,
    after: { method: 'PATCH', path: `${OBJECTS}/object-{}`, body: textPatch('t'), formats: MERGE },
  },
  { name: 'list of ConfigMaps, protobuf', path: CONFIG_MAPS, formats: PROTOBUF, count: 6, connections: 1, streams: 1 },
  { name: 'list, limit=500', path: `${OBJECTS}?limit=500`, count: 40, connections: 1, streams: 1 },
  {
    name: 'list by label, nothing matches',
    path: `${OBJECTS}?labelSelector=app%3Dnone`,
    count: 300,
    connections: 1,
    streams: 1,
  },
  {
    name: 'list by label, one matches',
    path: `${OBJECTS}?labelSelector=object%3Dn0000077`,
    count: 300,
    connections: 1,
    streams: 1,
  },
  {
    name: 'durable create, 64 at once',
    method: 'POST',
    path: CREATED,
    body: bodyOf('created-{}'),
    count: 2000,
    isNew: true,
    connections: 2,
    streams: 32,
  },
  {
    name: 'durable create, one at a time',
    method: 'POST',
    path: CREATED,
    body: bodyOf('single-{}'),
    count: 300,
    isNew: true,
    connections: 1,
    streams: 1,
  },
  {
    name: 'merge patch, 32 at once',
    method: 'PATCH',
    path: `${OBJECTS}/object-{}`,
    body: textPatch('p'),
    formats: MERGE,
    count: 1500,
    isNew: true,
    within: true,
    connections: 2,
    streams: 16,
  },
  {
    name: 'server-side apply, 16 at once',
    method: 'PATCH',
    path: `${OBJECTS}/object-{}?fieldManager=bench&force=true`,
    body: JSON.stringify(applied),
    formats: APPLY,
    count: 1200,
    isNew: true,
    within: true,
    connections: 2,
    streams: 8,
  },
]

/** The kind, its namespaces, `count` objects and a quarter as many ConfigMaps. */
export async function prepare(server, load, count) {
  await define(server, definition())
  for (const name of NAMESPACES) await ask(server, 'POST', '/api/v1/namespaces', { metadata: { name } })
  await whenServed(server, OBJECTS)
  const create = (path, body, times) =>
    load('repeat', server, { method: 'POST', path, body, count: times, connections: 2, streams: 32 })
  await create(OBJECTS, bodyOf('object-{}'), count)
  await create(CONFIG_MAPS, configMap, Math.ceil(count / 4))
  await ask(server, 'POST', WATCHED, gadget('watched'))
}

const define = (server, wanted) =>
  ask(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', wanted)

async function whenServed(server, path) {
  for (;;) {
    try {
      return await ask(server, 'GET', path)
    } catch (error) {
      if (!/: (404|429|503) /.test(error.message)) throw error
      await sleep(10)
    }
  }
}

const nextNumber = new Map()
let rounds = 0

/** One round of an operation; answers how many were done. */
export async function repeat(server, load, operation, objects, share = 1) {
  const { name, isNew, within, spread, count, after, body, ...request } = operation
  const times = Math.max(1, Math.round(count * share))
  const key = `${server.url} ${name}`
  const first = isNew ? (nextNumber.get(key) ?? 0) : 0
  if (isNew) nextNumber.set(key, within ? (first + times) % (objects - times) : first + times)
  if (after) return repeatAfter(server, load, { after, request, times, first })
  await load('repeat', server, {
    ...request,
    body: body?.replaceAll('{round}', String(++rounds)),
    count: times,
    first,
    ...(spread && { below: objects }),
  })
  return times
}

async function repeatAfter(server, load, { after, request, times, first }) {
  for (let i = 0; i < times; i++) {
    const body = after.body.replaceAll('{round}', String(++rounds))
    await load('repeat', server, { ...after, body, count: 1, first: first + i, connections: 1, streams: 1 })
    await load('repeat', server, { ...request, count: 1 })
  }
  return times
}

/** Watches of one namespace, and creates in it, each of which all of them are sent. */
export async function watchEvents(server, load) {
  await load('watch', server, {
    path: `${WATCHED}?watch=true&resourceVersion=0`,
    count: WATCHERS,
    connections: 4,
  })
  // The object that exists.
  await load('waitForEvents', server, { count: WATCHERS })
  let last = 0
  return {
    /** So many creates; answers how many events were delivered. */
    async round(count) {
      await load('repeat', server, {
        method: 'POST',
        path: WATCHED,
        body: bodyOf('watched-{}'),
        count,
        first: last,
        connections: 1,
        streams: 8,
      })
      last += count
      await load('waitForEvents', server, { count: count * WATCHERS })
      return count * WATCHERS
    },
    end: () => load('endWatches', server),
  }
}

/** From the POST of a definition until an object of it is stored, in milliseconds. */
export async function firstObject(server, i) {
  const begin = performance.now()
  const plural = `novel${i}s`
  const kind = `Novel${i}`
  await define(server, definition(plural, kind))
  for (;;) {
    try {
      await ask(server, 'POST', `${API}/namespaces/bench/${plural}`, gadget('first', kind))
      break
    } catch (error) {
      if (!/: (404|405|429|503) /.test(error.message)) throw error
      await sleep(2)
    }
  }
  const took = performance.now() - begin
  await ask(server, 'DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${GROUP}`)
  return took
}

export async function cleanUp(server) {
  await ask(server, 'DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.${GROUP}`)
  for (const name of NAMESPACES) await ask(server, 'DELETE', `/api/v1/namespaces/${name}`)
}
