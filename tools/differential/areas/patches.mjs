// JSON patches, merge patches and strategic merge patches of custom and built-in objects.
import { RESOURCES, samplesOf } from '../builtin-values.mjs'
import { hostileValue, mutate, placesOf } from '../mutations.mjs'
import {
  collectionOf,
  createNamespace,
  DEFINITIONS,
  definitionOf,
  get,
  install,
  NAMESPACE,
  patch,
  post,
  TOKEN,
  WIDGETS,
  widget,
  writeOptions,
} from '../requests.mjs'

/** A patch for objects like this one. */
export function randomPatch(random, like) {
  const kind = random.weighted([
    [3, 'json'],
    [3, 'merge'],
    [3, 'strategic'],
  ])
  return { kind, value: kind === 'json' ? jsonPatch(random, like) : partOf(random, like) }
}

function jsonPatch(random, like) {
  if (random.chance(0.05)) return hostileValue(random)
  const pointers = ['', '/metadata/labels', ...pointersOf(like)]
  const pointer = () =>
    random.chance(0.9)
      ? random.pick(pointers)
      : random.pick(['x', '/nix/da', '/-1', '//', '/metadata/labels/a~1b', '/~2'])
  const operation = () => {
    const op = random.weighted([
      [4, 'add'],
      [3, 'replace'],
      [3, 'remove'],
      [2, 'test'],
      [1, 'copy'],
      [1, 'move'],
      [0.5, 'swap'],
    ])
    return {
      op,
      path: pointer() + (random.chance(0.15) ? random.pick(['/-', '/0', '/new', '/9']) : ''),
      ...(['copy', 'move'].includes(op) || random.chance(0.05) ? { from: pointer() } : {}),
      ...((['add', 'replace', 'test'].includes(op) || random.chance(0.05)) && random.chance(0.95)
        ? { value: hostileValue(random) }
        : {}),
      ...(random.chance(0.04) && { unknown: 1 }),
    }
  }
  return random.times(random.between(1, 3), operation)
}

function pointersOf(value) {
  const pointers = []
  const walk = (at, path) => {
    if (at === null || typeof at !== 'object') return
    for (const [key, member] of Object.entries(at)) {
      const next = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      pointers.push(next)
      walk(member, next)
    }
  }
  walk(value, '')
  return pointers
}

/** Some members of an object, changed, with directives of strategic merge patches here and there. */
function partOf(random, like) {
  const part = mutate(random, like, random.between(1, 3))
  for (const { holder, key } of placesOf(part)) {
    if (random.chance(0.25) && !Array.isArray(holder) && !['metadata', 'spec'].includes(key)) delete holder[key]
  }
  if (random.chance(0.3)) addDirective(random, part)
  return part
}

function addDirective(random, part) {
  const holders = placesOf(part)
    .map(({ holder, key }) => holder[key])
    .filter(value => value !== null && typeof value === 'object')
  const holder = holders.length > 0 ? random.pick(holders) : part
  if (holder === null || typeof holder !== 'object') return
  if (Array.isArray(holder)) {
    holder.push(
      random.pick([
        { $patch: 'replace' },
        { $patch: 'delete', name: 'a' },
        { $patch: 'nix' },
        { name: 'a', $patch: 'merge' },
      ]),
    )
  } else {
    Object.assign(
      holder,
      random.pick([
        { $patch: 'replace' },
        { $patch: 'delete' },
        { $patch: 'x' },
        { $retainKeys: Object.keys(holder) },
        { $retainKeys: 'x' },
        { '$deleteFromPrimitiveList/finalizers': ['a'] },
        { '$setElementOrder/finalizers': ['b', 'a'] },
        { '$setElementOrder/containers': [{ name: 'a' }] },
      ]),
    )
  }
}

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', labels: { a: 'b' }, annotations: { x: 'y' }, finalizers: ['example.com/a', 'example.com/b'] },
  spec: {
    containers: [
      {
        name: 'a',
        image: 'nginx',
        ports: [{ containerPort: 80 }, { containerPort: 81, name: 'x' }],
        env: [{ name: 'A', value: '1' }],
      },
      { name: 'b', image: 'nginx', command: ['x', 'y'] },
    ],
    tolerations: [{ key: 'a', operator: 'Exists' }],
    volumes: [{ name: 'v', emptyDir: {} }],
  },
}
const CONFIG_MAP = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', labels: { a: 'b', 'x.y/z': '1' } },
  data: { a: '1', 'b.c': '2' },
}
const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'a' },
  spec: {
    selector: { a: 'b' },
    ports: [
      { port: 80, name: 'a' },
      { port: 81, name: 'b', protocol: 'UDP' },
    ],
  },
}
const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: POD.spec.containers } },
  },
}
const SAMPLES = [
  [POD, 'pods'],
  [CONFIG_MAP, 'configmaps'],
  [SERVICE, 'services'],
  [DEPLOYMENT, 'deployments'],
]

/** An object to patch: one of the four, one that is recorded of any kind, or a custom object. */
function chooseTarget(random) {
  const choice = random.weighted([
    [2, 'sample'],
    [3, 'recorded'],
    [1, 'custom'],
  ])
  if (choice === 'sample') {
    const [object, resource] = random.pick(SAMPLES)
    return {
      object,
      path: collectionOf(object.apiVersion, resource, NAMESPACE),
      before: [],
      parts: ['', '', '/status'],
    }
  }
  if (choice === 'custom') {
    return {
      object: widget('a', { spec: { n: 1, list: [{ name: 'x' }], map: { k: 'v' } } }, { labels: { b: '1', a: '2' } }),
      path: WIDGETS,
      before: install(definitionOf(WIDGET_SCHEMA, { version: WIDGET_SUBRESOURCES })),
      parts: ['', '', '/status', '/scale'],
      cleanup: [`${DEFINITIONS}/widgets.${TOKEN}.example.com`],
    }
  }
  const resource = random.pick(RESOURCES.filter(each => samplesOf(each).length > 0))
  const { apiVersion, name, namespaced, subresources } = resource
  const path = collectionOf(apiVersion, name, namespaced ? NAMESPACE : undefined)
  const object = structuredClone(random.pick(samplesOf(resource)))
  const own = namespaced ? 'a' : `x-${TOKEN}`
  return {
    object: { ...object, metadata: { ...object.metadata, name: own, namespace: undefined } },
    path,
    before: [],
    parts: ['', '', ...['status', 'scale'].filter(part => subresources.includes(part)).map(part => `/${part}`)],
    cleanup: namespaced ? [] : [`${path}/${own}`],
  }
}

const WIDGET_SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        n: { type: 'integer' },
        list: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
        map: { type: 'object', additionalProperties: { type: 'string' } },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { n: { type: 'integer' } } },
  },
}
const WIDGET_SUBRESOURCES = {
  subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
}

export function patches(random) {
  const { object, path, before, parts, cleanup } = chooseTarget(random)
  const name = object.metadata.name
  const steps = [createNamespace(), ...before, post(path, object)]
  for (let i = 0; i < 8; i++) {
    const { kind, value } = randomPatch(random, object)
    const part = random.pick(parts)
    steps.push(patch(kind, `${path}/${name}${part}${writeOptions(random, { isPatch: true })}`, value))
  }
  return { about: `patches of a ${object.kind}`, steps: [...steps, get(`${path}/${name}`)], cleanup }
}
