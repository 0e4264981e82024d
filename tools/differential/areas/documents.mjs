// Discovery and OpenAPI: what is published of random definitions while they are added, changed and removed, and requests to
// the documents with all kinds of headers.
import { mutate } from '../mutations.mjs'
import { acceptOf, DEFINITIONS, definitionOf, get, post, put, remove, TOKEN } from '../requests.mjs'
import { randomSchema } from '../schemas.mjs'

const GROUP = `${TOKEN}.example.com`
const DEFINITION = `${DEFINITIONS}/widgets.${GROUP}`
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const HEADERS = [
  'etag',
  'vary',
  'cache-control',
  'last-modified',
  'accept-ranges',
  'content-range',
  'location',
  'allow',
]

export async function documents(random, ask) {
  if (random.chance(0.4)) return { about: 'requests to documents', steps: random.times(12, () => oddRequest(random)) }
  const first = await acceptedDefinition(random, ask, 'first')
  const second = await acceptedDefinition(random, ask, 'second')
  if (!first || !second) return { about: 'no definition is accepted', steps: [get('/openapi/v3/version')] }
  const steps = [post(DEFINITIONS, first, { unchecked: true }), ...published(random, first, 'first')]
  steps.push(
    { ...get(DEFINITION), unchecked: true },
    put(
      DEFINITION,
      { ...second, metadata: { ...second.metadata, resourceVersion: `{{${steps.length}.metadata.resourceVersion}}` } },
      { unchecked: true },
    ),
    ...published(random, second, 'second'),
    { ...remove(DEFINITION), unchecked: true },
    { ...get(groupDocument('v1')), unchecked: true, eventually: true, until: status => status === 404 },
    get(`/apis/${GROUP}/v1`),
    get(`/apis/${GROUP}`),
    get('/apis', { only: TOKEN }),
  )
  return { about: 'what is published of a definition', steps, cleanup: [DEFINITION] }
}

const groupDocument = version => `/openapi/v3/apis/${GROUP}/${version}`

// ---- definitions

async function acceptedDefinition(random, ask, marker) {
  for (let tries = 0; tries < 4; tries++) {
    const definition = publishedDefinition(random, marker)
    if ((await ask(post(`${DEFINITIONS}?dryRun=All`, definition))).status === 201) return definition
  }
  return undefined
}

/** v1 is always served, and the description of its schema says which definition it is of. */
function publishedDefinition(random, marker) {
  const names = ['v1', ...random.some(['v1beta1', 'v2', 'v1alpha1', 'foo'], 0.25)]
  const storage = random.pick(names)
  const schemaOf = name => ({
    type: 'object',
    ...(name === 'v1' ? { description: marker } : random.chance(0.2) && { description: 'Another version.' }),
    properties: {
      ...(random.chance(0.8) && { spec: randomSchema(random, { mistakes: 0.01 }) }),
      ...(random.chance(0.5) && { status: randomSchema(random, { mistakes: 0.01 }) }),
      ...(random.chance(0.1) && { more: randomSchema(random) }),
      ...(random.chance(0.1) && { metadata: { type: 'object' } }),
      ...(random.chance(0.1) && { apiVersion: { type: 'string', description: 'Its version.' } }),
    },
    ...(random.chance(0.15) && { required: ['spec'] }),
    ...(random.chance(0.07) && { 'x-kubernetes-preserve-unknown-fields': true }),
    ...(random.chance(0.1) && { 'x-kubernetes-validations': [{ rule: 'true', message: 'm' }] }),
  })
  const versionOf = name => ({
    name,
    served: name === 'v1' || random.chance(0.8),
    storage: name === storage,
    schema: { openAPIV3Schema: schemaOf(name) },
    ...(random.chance(0.4) && {
      subresources: {
        ...(random.chance(0.7) && { status: {} }),
        ...(random.chance(0.4) && { scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.b' } }),
      },
    }),
    ...(random.chance(0.15) && {
      deprecated: true,
      ...(random.chance(0.5) && { deprecationWarning: 'use another version' }),
    }),
    ...(random.chance(0.15) && { selectableFields: [{ jsonPath: '.spec.a' }] }),
    ...(random.chance(0.15) && { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }] }),
  })
  const definition = definitionOf(undefined, { versions: names.map(versionOf) })
  Object.assign(definition.spec.names, {
    ...(random.chance(0.3) && { shortNames: random.pick([[`w${TOKEN}`], ['wd', `w${TOKEN}`]]) }),
    ...(random.chance(0.3) && { categories: random.pick([['all'], ['x', 'y'], []]) }),
    ...(random.chance(0.2) && { listKind: random.pick(['WidgetList', 'Widgets', 'ManyWidgets']) }),
  })
  if (random.chance(0.1)) delete definition.spec.names.singular
  if (random.chance(0.2)) definition.spec.scope = 'Cluster'
  if (random.chance(0.1)) definition.spec.preserveUnknownFields = false
  return random.chance(0.1) ? { ...definition, metadata: mutate(random, definition.metadata) } : definition
}

/** Reads all that is published of a definition, once its v1 is. */
function published(random, { spec }, marker) {
  const served = spec.versions.filter(version => version.served).map(({ name }) => name)
  const isPublished = (status, body) => status === 200 && JSON.stringify(body).includes(`"description":"${marker}"`)
  const steps = [
    { ...get(groupDocument('v1')), unchecked: true, eventually: true, until: isPublished },
    // Discovery follows in its own time.
    { sleep: 1200 },
    get(`/apis/${GROUP}`),
    ...served.flatMap(version => [get(`/apis/${GROUP}/${version}`), get(groupDocument(version))]),
    get(groupDocument('unserved')),
    get('/apis', { only: TOKEN }),
    get('/apis', { only: TOKEN, headers: { accept: AGGREGATED } }),
  ]
  if (random.chance(0.2)) steps.push(...inVersion2(served, spec, isPublished))
  return steps
}

const escaped = text => text.replaceAll('~', '~0').replaceAll('/', '~1')

/** The parts of the one document that are those of the group. */
function inVersion2(served, { scope, names }, isPublished) {
  const reversed = GROUP.split('.').toReversed().join('.')
  const listKind = names.listKind ?? `${names.kind}List`
  const pick = served.flatMap(version => {
    const path = `/apis/${GROUP}/${version}`
    const objects = scope === 'Namespaced' ? `${path}/namespaces/{namespace}/widgets` : `${path}/widgets`
    return [
      ...[names.kind, listKind].map(kind => `/definitions/${reversed}.${version}.${kind}`),
      ...[
        `${path}/`,
        `${path}/widgets`,
        objects,
        ...['', '/status', '/scale'].map(sub => `${objects}/{name}${sub}`),
      ].map(each => `/paths/${escaped(each)}`),
    ]
  })
  return [
    { ...get('/openapi/v2'), pick: ['/swagger'], eventually: true, until: isPublished, timeoutMs: 20_000 },
    get('/openapi/v2', { pick: [...pick, `/paths/${escaped(`/apis/${GROUP}/`)}`] }),
  ]
}

// ---- requests

const PATHS = [
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/api/v1',
  '/openapi/v3/apis/apps/v1',
  '/openapi/v3/apis/apps',
  '/openapi/v3/apis',
  '/openapi/v3/api',
  '/openapi/v3/version',
  '/openapi/v3/openid/v1/jwks',
  '/openapi/v3/apis/autoscaling/v2',
  '/openapi/v3/apis/nope/v1',
  '/openapi/v3/',
  '/openapi/v2/',
  '/openapi',
  '/openapi/',
  '/openapi/v3/apis/apps/v1/',
  '/openapi/v3//apis/apps/v1',
  '/openapi/v4',
  '/openapi/v3/../v3',
  '/api',
  '/api/',
  '/api/v1',
  '/api/v1/',
  '/api/v2',
  '/apis',
  '/apis/',
  '/apis/apps',
  '/apis/apps/',
  '/apis/apps/v1',
  '/apis/apps/v1/',
  '/apis/apps/v2',
  '/apis/nope.example.com',
  '/apis/nope.example.com/v1',
  '/apis/metrics.k8s.io/v1',
  '/apis/batch/v1',
  '/version',
  '/version/',
  '/',
  '/healthz/',
  '/readyz/ping',
  '/livez/nope',
  '/.well-known/openid-configuration',
  '/.well-known/openid-configuration/',
  '/openid/v1/jwks',
  '/openid/v1/jwks/',
  '/openid/v1/',
]

/** One request to a document, its headers compared, too. */
function oddRequest(random) {
  const isOpenApi = random.chance(0.5)
  const path = random.pick(PATHS.filter(each => each.startsWith('/openapi') === isOpenApi))
  // The index, which is text, names the groups of other scenarios, too.
  const method =
    path === '/openapi/v3'
      ? 'HEAD'
      : random.weighted([
          [12, 'GET'],
          [4, 'HEAD'],
          [1, 'POST'],
          [1, 'PUT'],
          [1, 'DELETE'],
          [1, 'PATCH'],
          [1, 'OPTIONS'],
          [0.5, 'TRACE'],
        ])
  const headers = {
    ...(random.chance(0.5) && { accept: acceptOfDocument(random) }),
    ...(random.chance(0.3) && conditions(random)),
    ...(random.chance(0.1) && { authorization: random.pick([null, 'Bearer alice-token', 'Bearer nope']) }),
  }
  const query = random.chance(0.15)
    ? random.pick(['?hash=', '?hash=A', '?timeout=1s', '?pretty=true', '?verbose', '?x=y'])
    : ''
  return {
    method,
    path: path + query,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(['POST', 'PUT', 'PATCH'].includes(method) && random.chance(0.5) && { body: {} }),
    headersToo: HEADERS,
    only: `no group but ${TOKEN}`,
    ...partOf(path, headers),
  }
}

/** Whole documents are compared where they are small, else their outline. */
const partOf = (path, { accept = '' }) =>
  path === '/'
    ? { ignore: ['/paths'] }
    : /protobuf/.test(accept)
      ? { ignore: ['/base64'] }
      : path.startsWith('/openapi/v2')
        ? {
            pick: [
              '/swagger',
              '/info',
              '/securityDefinitions',
              '/security',
              '/definitions/io.k8s.api.apps.v1.Deployment',
            ],
          }
        : /\/openapi\/v3\/(api|apis\/[^/]+)\/v\d/.test(path)
          ? { pick: ['/openapi', '/info/title', '/paths', '/components/securitySchemes'] }
          : path.includes('openid') && !path.startsWith('/openapi')
            ? { ignore: ['/jwks_uri', '/id_token_signing_alg_values_supported', '/keys'] }
            : path === '/openapi/v3' || path.startsWith('/version')
              ? { pick: ['/kind', '/status', '/reason', '/code', '/message', '/paths/api', '/major', '/minor'] }
              : { ignore: ['/serverAddressByClientCIDRs'] }

const acceptOfDocument = random =>
  random.chance(0.3)
    ? acceptOf(random).accept
    : random.pick([
        AGGREGATED,
        `${AGGREGATED},application/json`,
        `application/json,${AGGREGATED}`,
        `${AGGREGATED};q=0.1,application/json;q=0.9`,
        `${AGGREGATED.replace('v=v2', 'v=v2beta1')},application/json`,
        AGGREGATED.replace('v=v2', 'v=v2beta1'),
        AGGREGATED.replace('json', 'yaml'),
        AGGREGATED.replace('json', 'cbor'),
        AGGREGATED.replace('json', 'vnd.kubernetes.protobuf'),
        `${AGGREGATED};profile=nopeer`,
        'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
        'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
        'application/com.github.proto-openapi.spec.v3@v1.0+protobuf',
        'application/com.github.proto-openapi.spec.v3.v1.0+protobuf',
        'application/com.github.proto-openapi.spec.v3@v1.0+protobuf;q=0.5,application/json',
        'application/com.github.proto-openapi.spec.v9@v1.0+protobuf',
        'application/json;q=0',
        'application/json;q=2',
        'application/*;q=0.1, text/plain',
        'application/JSON',
        'application/cbor',
        'application/vnd.kubernetes.protobuf',
        'application/xml',
        '*/*;q=0.1',
        '',
        ',',
        'x',
      ])

/** Conditions and ranges, of which only one that is beyond its document is sent with a GET, too. */
const conditions = random =>
  random.pick([
    { 'if-none-match': '*' },
    { 'if-none-match': '"x"' },
    { 'if-none-match': 'W/"x", *' },
    { 'if-none-match': '' },
    { 'if-match': '*' },
    { 'if-match': '"x"' },
    { 'if-match': '' },
    { 'if-modified-since': 'Thu, 01 Jan 2099 00:00:00 GMT' },
    { 'if-modified-since': 'Thu, 01 Jan 2009 00:00:00 GMT' },
    { 'if-modified-since': 'yesterday' },
    { 'if-unmodified-since': 'Thu, 01 Jan 2099 00:00:00 GMT' },
    { 'if-unmodified-since': 'Thu, 01 Jan 2009 00:00:00 GMT' },
    { 'if-match': '*', 'if-unmodified-since': 'Thu, 01 Jan 2009 00:00:00 GMT' },
    { 'if-none-match': '"x"', 'if-modified-since': 'Thu, 01 Jan 2099 00:00:00 GMT' },
    { range: 'bytes=0-1' },
    { range: 'bytes=0-0' },
    { range: 'bytes=-1' },
    { range: 'bytes=999999999-' },
    { range: 'bytes=5-2' },
    { range: 'bytes=x' },
    { range: 'lines=0-1' },
    { range: 'bytes=0-1,999999999-' },
    { range: 'bytes=' },
    { range: ' bytes = 0 - 1' },
    { range: 'bytes=0-1', 'if-range': '"x"' },
    { range: 'bytes=0-1', 'if-range': 'Thu, 01 Jan 2099 00:00:00 GMT' },
  ])
