// Server-side apply by several managers, beside updates and patches, on a custom kind with lists of every type, on a Deployment and on
// objects of every built-in kind.
import { RESOURCES, samplesOf } from '../builtin-values.mjs'
import { hostileValue, mutate, placesOf } from '../mutations.mjs'
import {
  collectionOf,
  createNamespace,
  definitionOf,
  get,
  install,
  MANAGERS,
  NAMESPACE,
  patch,
  put,
  TOKEN,
  WIDGETS,
  widget,
} from '../requests.mjs'

const item = {
  type: 'object',
  properties: { k: { type: 'string' }, n: { type: 'integer' }, v: { type: 'string', default: 'd' } },
  required: ['k'],
}
const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        text: { type: 'string' },
        number: { type: 'integer' },
        set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        byKey: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
        byTwo: {
          type: 'array',
          items: { ...item, required: ['k', 'v'] },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k', 'v'],
        },
        atomic: { type: 'array', items: item },
        object: {
          type: 'object',
          properties: { a: { type: 'string' }, b: { type: 'object', properties: { c: { type: 'string' } } } },
        },
        atomicObject: {
          type: 'object',
          properties: { a: { type: 'string' }, b: { type: 'string' } },
          'x-kubernetes-map-type': 'atomic',
        },
        map: { type: 'object', additionalProperties: { type: 'string' } },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        nullable: { type: 'string', nullable: true },
      },
    },
    status: {
      type: 'object',
      properties: { ready: { type: 'boolean' }, list: { type: 'array', items: { type: 'string' } } },
    },
  },
}

function configuration(random) {
  const items = () =>
    random.times(random.between(0, 3), () => ({
      k: random.pick(['a', 'b', 'c']),
      ...(random.chance(0.5) && { n: random.below(3) }),
      ...(random.chance(0.3) && { v: random.pick(['d', 'e']) }),
    }))
  const all = {
    text: random.pick(['a', 'b']),
    number: random.below(3),
    set: random.some(['a', 'b', 'c']),
    byKey: items(),
    byTwo: items(),
    atomic: items(),
    object: {
      ...(random.chance(0.6) && { a: random.pick(['x', 'y']) }),
      ...(random.chance(0.4) && { b: random.pick([{}, { c: 'z' }]) }),
    },
    atomicObject: random.pick([{ a: '1' }, { b: '2' }, { a: '1', b: '2' }, {}]),
    map: random.pick([{ a: '1' }, { b: '2' }, {}, { a: '1', b: '3' }]),
    any: random.pick([{ x: 1 }, { x: { y: [1] } }, { z: null }, {}]),
    nullable: random.pick([null, 'x']),
  }
  const spec = Object.fromEntries(random.some(Object.entries(all), 0.4))
  const metadata = random.chance(0.4)
    ? random.pick([
        { labels: { a: 'b' } },
        { annotations: { a: '1' } },
        { finalizers: ['example.com/f'] },
        { labels: {} },
      ])
    : {}
  return widget('a', { spec }, metadata)
}

export function applies(random) {
  if (random.chance(0.4)) return random.chance(0.4) ? deploymentApplies(random) : builtinApplies(random)
  const definition = definitionOf(SCHEMA, { version: random.chance(0.5) ? { subresources: { status: {} } } : {} })
  const steps = [createNamespace(), ...install(definition)]
  for (let i = 0; i < 9; i++) steps.push(applyStep(random, `${WIDGETS}/a`, configuration(random)))
  return {
    about: 'server-side apply to a custom object',
    steps: [...steps, get(`${WIDGETS}/a`)],
    cleanup: [definitionPath()],
  }
}

const definitionPath = () => `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${TOKEN}.example.com`

function applyStep(random, path, body) {
  const manager = random.pick(MANAGERS)
  const sent = random.chance(0.12) ? mutate(random, body) : body
  const status = random.chance(0.1) ? '/status' : ''
  switch (
    random.weighted([
      [7, 'apply'],
      [2, 'merge'],
      [1, 'put'],
      [1, 'json'],
      [0.5, 'managed'],
    ])
  ) {
    case 'apply':
      return patch('apply', `${path}${status}?fieldManager=${manager}${random.chance(0.3) ? '&force=true' : ''}`, sent)
    case 'merge':
      return patch('merge', `${path}${status}?fieldManager=${manager}`, {
        spec: sent.spec,
        ...(random.chance(0.2) && { status: { ready: true, list: ['a'] } }),
      })
    case 'put':
      return put(`${path}?fieldManager=${manager}`, sent)
    case 'json':
      return patch('json', `${path}?fieldManager=${manager}`, [
        {
          op: random.pick(['remove', 'replace', 'add']),
          path: random.pick(['/spec/text', '/spec/set', '/spec/byKey/0', '/metadata/labels']),
          value: hostileValue(random),
        },
      ])
    default:
      return patch('merge', `${path}?fieldManager=${manager}`, {
        metadata: { managedFields: random.pick([[], [{}], null, [{ manager: 'x', operation: 'Update' }]]) },
      })
  }
}

function deploymentApplies(random) {
  const path = `${collectionOf('apps/v1', 'deployments', NAMESPACE)}/a`
  const container = () => ({
    name: random.pick(['a', 'b']),
    image: random.pick(['x', 'y']),
    ...(random.chance(0.4) && {
      ports: [{ containerPort: random.pick([80, 81]), ...(random.chance(0.3) && { protocol: 'TCP' }) }],
    }),
    ...(random.chance(0.3) && { env: [{ name: 'A', value: random.pick(['1', '2']) }] }),
  })
  const body = () => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'a', ...(random.chance(0.3) && { labels: { x: 'y' } }) },
    spec: {
      ...(random.chance(0.4) && { replicas: random.below(3) }),
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: random.times(random.between(1, 2), container) },
      },
    },
  })
  const steps = [createNamespace()]
  for (let i = 0; i < 7; i++) steps.push(applyStep(random, path, body()))
  return { about: 'server-side apply to a Deployment', steps: [...steps, get(path)] }
}

/** Parts of an object of any kind, by several managers. */
function builtinApplies(random) {
  const resource = random.pick(RESOURCES.filter(each => samplesOf(each).length > 0))
  const { apiVersion, kind, name: plural, namespaced, subresources } = resource
  const objects = random.times(2, () => random.pick(samplesOf(resource)))
  const name = `x-${TOKEN}`
  const path = `${collectionOf(apiVersion, plural, namespaced ? NAMESPACE : undefined)}/${name}`
  const body = () => {
    const { metadata, ...object } = structuredClone(random.pick(objects))
    const { labels, annotations } = metadata ?? {}
    const part = { ...object, apiVersion, kind, metadata: { name, ...(random.chance(0.5) && { labels, annotations }) } }
    for (const { holder, key } of placesOf(part)) {
      if (random.chance(0.12) && !Array.isArray(holder) && !KEPT_FIELDS.has(key)) delete holder[key]
    }
    return part
  }
  const steps = [createNamespace()]
  for (let i = 0; i < 7; i++) {
    const at = subresources.includes('status') && random.chance(0.15) ? `${path}/status` : path
    const manager = random.pick(MANAGERS)
    steps.push(
      random.chance(0.75)
        ? patch('apply', `${at}?fieldManager=${manager}${random.chance(0.4) ? '&force=true' : ''}`, body())
        : random.chance(0.5)
          ? patch('merge', `${at}?fieldManager=${manager}`, body())
          : put(`${at}?fieldManager=${manager}`, body()),
    )
  }
  return {
    about: `server-side apply to ${apiVersion} ${kind}`,
    steps: [...steps, get(path)],
    cleanup: namespaced ? [] : [path],
  }
}

const KEPT_FIELDS = new Set(['apiVersion', 'kind', 'metadata', 'name', 'spec'])
