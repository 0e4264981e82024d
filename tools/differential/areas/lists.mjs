// Lists and watches with all their options, over a handful of objects with labels and selectable fields.
import {
  acceptOf,
  collectionOf,
  createNamespace,
  DEFINITIONS,
  definitionOf,
  deleteOptions,
  get,
  install,
  listOptions,
  NAMESPACE,
  patch,
  post,
  put,
  remove,
  TOKEN,
} from '../requests.mjs'

const LABELS = [{ a: 'b' }, { a: 'c' }, {}, { c: '' }]

/** Kinds with the objects that are listed, and the field selectors that they have. */
const KINDS = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    resource: 'configmaps',
    body: random => ({ data: { name: random.pick(['a', 'b']) } }),
    fields: ['metadata.namespace=default', 'data.name=a'],
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    resource: 'pods',
    body: random => ({
      spec: {
        containers: [{ name: 'a', image: 'x' }],
        restartPolicy: random.pick(['Always', 'Never']),
        nodeName: random.pick(['n1', undefined]),
      },
    }),
    fields: [
      'spec.nodeName=n1',
      'spec.nodeName=',
      'spec.restartPolicy!=Never',
      'status.phase=Pending',
      'status.phase!=Pending,spec.nodeName=n1',
      'spec.hostNetwork=false',
      'status.podIP=',
      'spec.schedulerName=default-scheduler',
    ],
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    resource: 'secrets',
    body: random => ({ type: random.pick(['Opaque', 'example.com/x']), stringData: { a: '1' } }),
    fields: ['type=Opaque', 'type!=Opaque', 'type=example.com/x,metadata.name!=a'],
  },
  {
    apiVersion: 'v1',
    kind: 'Event',
    resource: 'events',
    body: random => ({
      involvedObject: { kind: random.pick(['Pod', 'Node']), name: 'x', namespace: NAMESPACE },
      reason: random.pick(['A', 'B']),
      type: 'Normal',
    }),
    fields: [
      'involvedObject.kind=Pod',
      'reason=A',
      'reason!=A,type=Normal',
      'involvedObject.namespace=default',
      'source=',
    ],
  },
  {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    resource: 'replicasets',
    body: random => ({
      spec: {
        replicas: random.between(0, 2),
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'x' }] } },
      },
    }),
    fields: ['status.replicas=0', 'status.replicas=1', 'spec.replicas=1'],
  },
  {
    apiVersion: `${TOKEN}.example.com/v1`,
    kind: 'Widget',
    resource: 'widgets',
    body: random => ({ spec: { color: random.pick(['red', 'blue', undefined]), size: random.between(0, 2) } }),
    fields: ['spec.color=red', 'spec.color=', 'spec.size=1', 'spec.size!=1,spec.color=blue', 'spec.other=1'],
    definition: definitionOf(
      {
        type: 'object',
        properties: {
          spec: { type: 'object', properties: { color: { type: 'string' }, size: { type: 'integer' } } },
          data: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
      {
        version: {
          selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }],
          additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
        },
      },
    ),
  },
]

export function lists(random) {
  const listed = random.weighted([[3, KINDS[0]], ...KINDS.slice(1).map(each => [1, each])])
  const { apiVersion, kind, resource, fields, definition } = listed
  const object = (name, labels) => ({ apiVersion, kind, metadata: { name, labels }, ...listed.body(random) })
  const path = collectionOf(apiVersion, resource, NAMESPACE)
  const names = ['a', 'b', 'c', 'd']
  const before = [createNamespace(), ...(definition ? install(definition) : [])]
  const steps = [...before, ...names.map(name => post(path, object(name, random.pick(LABELS))))]
  const versions = names.map((_, i) => `{{${before.length + i}.metadata.resourceVersion}}`)
  const options = () => listOptions(random, { versions, fields }).replaceAll('%7B', '{').replaceAll('%7D', '}')
  for (let i = 0; i < 6; i++) steps.push(get(path + options(), random.chance(0.3) ? { headers: acceptOf(random) } : {}))
  if (random.chance(0.5)) steps.push(...pages(path, steps.length, random))
  if (random.chance(0.6)) steps.push(...watching(random, path, { options, version: versions[1], fields, object }))
  if (random.chance(0.3)) steps.push(remove(path + options(), deleteOptions(random)), get(path))
  const cleanup = definition ? [`${DEFINITIONS}/widgets.${TOKEN}.example.com`] : []
  return { about: `lists and watches of ${resource}`, steps, cleanup }
}

/** Pages by their continue tokens. */
function pages(path, at, random) {
  const limit = random.between(1, 2)
  return [
    get(`${path}?limit=${limit}`),
    get(`${path}?limit=${limit}&continue={{${at}.metadata.continue}}`),
    get(
      `${path}?limit=${limit}&continue={{${at + 1}.metadata.continue}}${random.chance(0.3) ? '&labelSelector=a' : ''}`,
    ),
  ]
}

function watching(random, path, { options, version, fields, object }) {
  const selection = random.pick([
    '',
    '&labelSelector=a%3Db',
    '&fieldSelector=metadata.name%3Da',
    `&fieldSelector=${encodeURIComponent(random.pick(fields))}`,
    '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  ])
  const from = random.pick(['', '&resourceVersion=0', `&resourceVersion=${version}`])
  const bad = random.chance(0.3)
  const query = bad
    ? `${options() || '?x=y'}&watch=true&timeoutSeconds=2`
    : `?watch=true&timeoutSeconds=9${selection}${from}`
  return [
    { watch: 'w', path: path + query, ...(random.chance(0.3) && { headers: acceptOf(random) }) },
    { read: 'w', count: 4, timeoutMs: 1500 },
    patch('merge', `${path}/a`, { metadata: { labels: { a: random.pick(['b', 'c', null]) } } }),
    patch('merge', `${path}/b`, { data: { more: '1' } }),
    remove(`${path}/c`),
    put(`${path}/d`, object('d', { a: 'b' })),
    { read: 'w', count: 4, timeoutMs: 1500 },
    { close: 'w' },
  ]
}
