// JSON patches, merge patches and strategic merge patches of custom and built-in objects.
import { hostileValue, mutate, placesOf } from '../mutations.mjs'
import { collectionOf, createNamespace, get, NAMESPACE, patch, post, writeOptions } from '../requests.mjs'

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

export function patches(random) {
  const [object, resource] = random.pick(SAMPLES)
  const path = collectionOf(object.apiVersion, resource, NAMESPACE)
  const steps = [createNamespace(), post(path, object)]
  for (let i = 0; i < 8; i++) {
    const { kind, value } = randomPatch(random, object)
    steps.push(patch(kind, `${path}/a${writeOptions(random, { isPatch: true })}`, value))
  }
  return { about: `patches of a ${object.kind}`, steps: [...steps, get(`${path}/a`)] }
}
