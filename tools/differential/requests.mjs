// Steps of scenarios in the format of test/conformance: requests with random options, encodings and patches.

/** Stands for a name that is new in every run; all names of a scenario contain it, and it has always the same length. */
export const TOKEN = 'zzzzzz'

/** Stands for the port of the tester's webhooks; in recordings it is the port itself. */
export const WEBHOOK_PORT = 18444

export const get = (path, extra = {}) => ({ method: 'GET', path, ...extra })
export const post = (path, body, extra = {}) => ({ method: 'POST', path, body, ...extra })
export const put = (path, body, extra = {}) => ({ method: 'PUT', path, body, ...extra })
export const remove = (path, body, extra = {}) => ({ method: 'DELETE', path, ...(body && { body }), ...extra })

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}
export const patch = (kind, path, body, extra = {}) => ({
  method: 'PATCH',
  path,
  body,
  ...extra,
  headers: { 'content-type': PATCH_TYPES[kind], ...extra.headers },
})

export const NAMESPACE = `n-${TOKEN}`
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export const createNamespace = () =>
  post(
    '/api/v1/namespaces',
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { unchecked: true },
  )

/** The path of the objects of a resource: `core` has no group. */
export const collectionOf = (apiVersion, resource, namespace) =>
  `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}${namespace ? `/namespaces/${namespace}` : ''}/${resource}`

/** A definition with one version, `schema` being that of its objects. */
export function definitionOf(schema, { version = {}, spec = {}, versions } = {}) {
  const group = `${TOKEN}.example.com`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Widget', plural: 'widgets', singular: 'widget' },
      versions: versions ?? [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version },
      ],
      ...spec,
    },
  }
}

/** Creates a definition and waits until its resource is served. */
export function install(definition) {
  const { group, names, versions, scope } = definition.spec
  const path = `/apis/${group}/${versions.find(({ served }) => served).name}/${names.plural}`
  return [
    post(DEFINITIONS, definition, { unchecked: true }),
    get(scope === 'Namespaced' ? path : path, { unchecked: true, eventually: true, until: status => status === 200 }),
  ]
}

export const WIDGETS = collectionOf(`${TOKEN}.example.com/v1`, 'widgets', NAMESPACE)
export const widget = (name, body = {}, metadata = {}) => ({
  apiVersion: `${TOKEN}.example.com/v1`,
  kind: 'Widget',
  metadata: { name, ...metadata },
  ...body,
})

// ---- options and encodings

const query = pairs =>
  pairs.length === 0 ? '' : `?${pairs.map(pair => pair.map(encodeURIComponent).join('=')).join('&')}`

/** Options of a write, mostly valid. */
export function writeOptions(random, { isPatch = false } = {}) {
  const pairs = []
  if (random.chance(0.15))
    pairs.push([
      'dryRun',
      random.weighted([
        [6, 'All'],
        [1, ''],
        [1, 'all'],
        [1, 'Some'],
      ]),
    ])
  if (random.chance(0.35)) {
    pairs.push([
      'fieldValidation',
      random.weighted([
        [4, 'Strict'],
        [3, 'Warn'],
        [3, 'Ignore'],
        [1, ''],
        [1, 'strict'],
      ]),
    ])
  }
  if (random.chance(0.3)) {
    pairs.push([
      'fieldManager',
      random.weighted([
        [6, random.pick(MANAGERS)],
        [1, ''],
        [1, 'x'.repeat(129)],
        [1, 'a\tb'],
      ]),
    ])
  }
  if (isPatch && random.chance(0.2)) pairs.push(['force', random.pick(['true', 'false', '1', 'yes'])])
  if (random.chance(0.05)) pairs.push(['pretty', 'true'])
  return query(pairs)
}

export const MANAGERS = ['kubectl', 'alpha', 'beta', 'gamma']

const SELECTORS = [
  'a=b',
  'a',
  '!a',
  'a in (b,c)',
  'a notin (b)',
  'a!=b',
  'a==b,c',
  'x in ()',
  'a=b,',
  ',',
  'a b',
  'a=(b)',
  '=b',
  'a in b',
  'a>1',
  'a<x',
]
const FIELDS = [
  'metadata.name=a',
  'metadata.name!=a',
  `metadata.namespace=${NAMESPACE}`,
  'metadata.name=a,metadata.name=b',
  'spec.x=1',
  'metadata.name',
  'metadata.name==',
  '=',
  'metadata.name=a\\,b',
  'metadata.name=\\x',
]

/** Options of a list or watch, mostly valid. */
export function listOptions(random, { versions = ['0'], fields = [] } = {}) {
  const pairs = []
  if (random.chance(0.4)) pairs.push(['labelSelector', random.pick(SELECTORS)])
  if (random.chance(0.25))
    pairs.push(['fieldSelector', random.pick(fields.length > 0 && random.chance(0.6) ? fields : FIELDS)])
  if (random.chance(0.4))
    pairs.push([
      'limit',
      random.weighted([
        [6, String(random.between(1, 3))],
        [1, '0'],
        [1, '-1'],
        [1, 'x'],
        [1, '500'],
      ]),
    ])
  if (random.chance(0.4))
    pairs.push([
      'resourceVersion',
      random.weighted([
        [4, random.pick(versions)],
        [3, '0'],
        [1, ''],
        [1, '-1'],
        [1, 'x'],
        [1, '1'],
      ]),
    ])
  if (random.chance(0.3))
    pairs.push([
      'resourceVersionMatch',
      random.weighted([
        [4, 'NotOlderThan'],
        [4, 'Exact'],
        [1, ''],
        [1, 'Latest'],
      ]),
    ])
  if (random.chance(0.1)) pairs.push(['sendInitialEvents', random.pick(['true', 'false'])])
  if (random.chance(0.1)) pairs.push(['allowWatchBookmarks', random.pick(['true', 'x'])])
  if (random.chance(0.1))
    pairs.push(['continue', random.pick(['x', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhXHUwMDAwIn0', ''])])
  return query(pairs)
}

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

/** Headers that ask for the answer in another form. */
export const acceptOf = random => ({
  accept: random.weighted([
    [5, 'application/json'],
    [2, TABLE],
    [2, PARTIAL],
    [1, PARTIAL_LIST],
    [2, 'application/yaml'],
    [1, '*/*'],
    [1, 'application/*'],
    [1, `${TABLE},application/json`],
    [1, 'text/html'],
    [1, 'application/json;as=Table;v=v1beta1;g=meta.k8s.io'],
    [1, 'application/json;pretty=1'],
    [1, 'application/json; q=0.3, application/yaml; q=0.9'],
    [1, 'application/json;as=Something;v=v1;g=meta.k8s.io'],
  ]),
})

/** Options of a deletion, in the body. */
export const deleteOptions = random =>
  random.chance(0.4)
    ? undefined
    : {
        ...(random.chance(0.7) && {
          apiVersion: random.weighted([
            [5, 'v1'],
            [1, 'apps/v1'],
            [1, 'nonsense/v9'],
          ]),
          kind: random.weighted([
            [6, 'DeleteOptions'],
            [1, 'Other'],
          ]),
        }),
        ...(random.chance(0.4) && {
          propagationPolicy: random.weighted([
            [2, 'Background'],
            [2, 'Foreground'],
            [2, 'Orphan'],
            [1, 'None'],
          ]),
        }),
        ...(random.chance(0.2) && { gracePeriodSeconds: random.pick([0, 1, -1, 30]) }),
        ...(random.chance(0.2) && { preconditions: random.pick([{ uid: 'wrong' }, { resourceVersion: '1' }, {}]) }),
        ...(random.chance(0.1) && { orphanDependents: random.chance(0.5) }),
        ...(random.chance(0.1) && { dryRun: ['All'] }),
        ...(random.chance(0.05) && { unknown: 1 }),
      }
