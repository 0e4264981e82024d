// Admission and conversion webhooks with all kinds of answers. Both servers call the same webhooks, which belong to the
// tester, so that what they are sent is compared, too.
import { pathOfAnswer } from '../../../test/conformance/given-answers.mjs'
import { CA_BUNDLE } from '../../../test/conformance/webhooks.mjs'
import { hostileValue, mutate } from '../mutations.mjs'
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
  put,
  remove,
  TOKEN,
  WEBHOOK_PORT,
} from '../requests.mjs'

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1'
const urlOf = path => `https://127.0.0.1:${WEBHOOK_PORT}${path}`

export const webhooks = random => (random.chance(0.6) ? admission(random) : conversion(random))

/** What the webhooks were sent. Its uid is new for every call, and those of validating webhooks come in any order. */
const calls = ({ anyOrder = false } = {}) => ({
  calls: true,
  ...(anyOrder && { anyOrder }),
  ignore: ['/*/review/request/uid', '/*/review/request/object/metadata/managedFields/*/time'],
})

// ---- admission

const configMaps = collectionOf('v1', 'configmaps', NAMESPACE)
const deployments = collectionOf('apps/v1', 'deployments', NAMESPACE)

function admission(random) {
  const isMutating = random.chance(0.55)
  const kind = isMutating ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration'
  const path = `${REGISTRATION}/${kind.toLowerCase()}s`
  const name = `w-${TOKEN}`
  // Several validating webhooks are called at once, and the first refusal counts, so that only one of them may refuse.
  const refusing = random.below(3)
  const hooks = random.times(random.between(1, 3), i => webhookOf(random, i, isMutating || i === refusing, isMutating))
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name },
    webhooks: [...hooks, probeOf()],
  }
  const steps = [
    createNamespace(),
    // The objects that updates and deletions are about are there before the webhooks.
    post(configMaps, configMap('a'), { unchecked: true }),
    post(deployments, deployment('a'), { unchecked: true }),
    post(path, configuration),
    {
      ...post(`${configMaps}?dryRun=All`, configMap('probe', { probe: 'yes' })),
      unchecked: true,
      eventually: true,
      until: status => status !== 201,
    },
    { ...calls(), unchecked: true },
    ...random
      .times(random.between(5, 8), i => admissionStep(random, i))
      .flatMap(step => [step, calls({ anyOrder: !isMutating })]),
  ]
  return { about: 'admission webhooks', webhooks: WEBHOOK_PORT, steps, cleanup: [`${path}/${name}`] }
}

const configMap = (name, labels = {}, data = { a: '1' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data,
})

const deployment = name => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 1,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'x' }] } },
  },
})

const inNamespace = { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } }

/** Refuses objects that no other webhook is asked about, which shows that the configuration is in effect. */
const probeOf = () => ({
  ...commonOf('probe', pathOfAnswer('admit', { response: { allowed: false } })),
  objectSelector: { matchLabels: { probe: 'yes' } },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
})

const commonOf = (name, path) => ({
  name: `${name}.${TOKEN}.example.com`,
  clientConfig: { url: urlOf(path), caBundle: CA_BUNDLE },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  namespaceSelector: inNamespace,
})

function webhookOf(random, i, mayRefuse, isMutating) {
  const answer = mayRefuse ? admissionAnswer(random, isMutating) : { response: random.pick(ALLOWED) }
  return {
    ...commonOf(`h${i}`, pathOfAnswer('admit', answer)),
    rules: rulesOf(random),
    objectSelector: random.chance(0.2)
      ? { matchLabels: { color: 'blue' } }
      : { matchExpressions: [{ key: 'probe', operator: 'DoesNotExist' }] },
    ...(random.chance(0.3) && { failurePolicy: random.pick(['Fail', 'Ignore']) }),
    ...(random.chance(0.2) && { sideEffects: 'NoneOnDryRun' }),
    ...(random.chance(0.3) && { admissionReviewVersions: random.pick([['v1beta1'], ['v1beta1', 'v1'], ['v9', 'v1']]) }),
    ...(random.chance(0.2) && { matchPolicy: random.pick(['Exact', 'Equivalent']) }),
    ...(random.chance(0.3) && { timeoutSeconds: random.pick([1, 2, 5, 30]) }),
    ...(isMutating && random.chance(0.3) && { reinvocationPolicy: 'IfNeeded' }),
    ...(random.chance(0.25) && {
      matchConditions: random.pick([
        [{ name: 'c', expression: "request.operation != 'DELETE'" }],
        [{ name: 'c', expression: 'has(object.data) && object.data.a == "1"' }],
        [
          { name: 'c', expression: "object == null || object.metadata.name != 'b'" },
          { name: 'd', expression: "request.userInfo.username == 'admin'" },
        ],
      ]),
    }),
  }
}

function rulesOf(random) {
  const operations = random.pick([['*'], ['CREATE', 'UPDATE'], ['CREATE', 'UPDATE', 'DELETE'], ['UPDATE'], ['DELETE']])
  return [
    { apiGroups: [''], apiVersions: ['v1'], operations, resources: random.pick([['configmaps'], ['*'], ['*/*']]) },
    {
      apiGroups: ['apps'],
      apiVersions: ['*'],
      operations,
      resources: random.pick([['deployments'], ['deployments/*'], ['deployments', 'deployments/scale'], ['*/status']]),
      ...(random.chance(0.3) && { scope: random.pick(['Namespaced', 'Cluster', '*']) }),
    },
  ]
}

/** None of them fails. */
const ALLOWED = [
  { allowed: true },
  { allowed: true, warnings: ['mind the gap'] },
  { allowed: true, warnings: ['mind the gap', 'and the step'], auditAnnotations: { seen: 'yes' } },
  { allowed: true, status: { code: 500, message: 'ignored' } },
]

const allowedWith = random => ({
  allowed: true,
  ...(random.chance(0.4) && { warnings: random.pick(WARNINGS) }),
  ...(random.chance(0.3) && { auditAnnotations: random.pick(AUDIT_ANNOTATIONS) }),
  ...(random.chance(0.1) && { status: random.pick([{ code: 200 }, { code: 500, message: 'ignored' }, null]) }),
})

const WARNINGS = [
  ['mind the gap'],
  ['mind the gap', 'mind the gap', 'and the step'],
  [''],
  ['tab\tand line\nbreak'],
  ['ä "quoted" \\ 😀'],
  ['x'.repeat(300)],
  Array.from({ length: 20 }, (_, i) => `${i} ${'y'.repeat(250)}`),
  [],
  null,
  ['\u0000'],
  [1],
  'text',
]

const AUDIT_ANNOTATIONS = [
  { seen: 'yes' },
  { 'a/b': 'x' },
  { '': 'x' },
  { seen: '' },
  { 'sp ace': 'x' },
  { seen: 1 },
  { a: '1', b: '2' },
  [],
]

const encodedPatch = operations => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
})

/** How a webhook answers: valid, refusing, failing, odd, slow or huge. */
function admissionAnswer(random, isMutating) {
  return random.weighted([
    [isMutating ? 5 : 2, () => ({ response: { ...allowedWith(random), ...patchOf(random) } })],
    [2, () => ({ response: allowedWith(random) })],
    [4, () => ({ response: refusal(random) })],
    [2, () => failingResponse(random)],
    [3, () => oddReview(random)],
    [0.7, () => ({ delayMs: 150, response: refusal(random) })],
    [0.2, () => ({ delayMs: 1700, response: { allowed: false } })],
    [0.4, () => ({ pad: random.pick([70_000, 1_100_000, 3_300_000]), response: allowedWith(random) })],
    [1, () => mutate(random, { response: { ...refusal(random), ...patchOf(random) } }, 1)],
  ])()
}

const patchOf = random =>
  random.weighted([
    [4, encodedPatch([{ op: 'add', path: '/metadata/annotations', value: { patched: 'yes' } }])],
    [2, encodedPatch([{ op: 'add', path: '/metadata/labels/color', value: 'blue' }])],
    [1, encodedPatch([{ op: 'replace', path: '/metadata/name', value: 'other' }])],
    [1, encodedPatch([{ op: 'add', path: '/metadata/namespace', value: 'elsewhere' }])],
    [1, encodedPatch([{ op: 'add', path: '/spec', value: hostileValue(random) }])],
    [1, encodedPatch([{ op: 'add', path: '/data/b', value: hostileValue(random) }])],
    [1, encodedPatch([{ op: 'add', path: '/spec/replicas', value: 3 }])],
    [1, encodedPatch([{ op: 'test', path: '/metadata/name', value: 'a' }])],
    [1, encodedPatch([{ op: 'remove', path: '/nothere' }])],
    [1, encodedPatch([{ op: 'replace', path: '', value: hostileValue(random) }])],
    [1, encodedPatch([{ op: 'add', path: '/unknownField', value: 1 }])],
    [1, encodedPatch([{ op: 'add', path: '/metadata/managedFields', value: [] }])],
    [1, encodedPatch([{ op: 'add', path: '/metadata/finalizers', value: ['example.com/x'] }])],
    [1, encodedPatch([{ op: 'add', path: '/metadata/uid', value: 'other' }])],
    [0.5, encodedPatch([])],
    [0.5, encodedPatch(null)],
    [0.5, encodedPatch({})],
    [0.5, encodedPatch('text')],
    [0.5, { patchType: 'JSONPatch' }],
    [0.5, { patch: 'W10=' }],
    [0.5, { patchType: 'MergePatch', patch: 'e30=' }],
    [0.5, { patchType: '', patch: 'W10=' }],
    [0.5, { patchType: 'JSONPatch', patch: '***' }],
    [0.5, { patchType: 'JSONPatch', patch: '' }],
    [0.5, { patchType: 'JSONPatch', patch: 'W3t9XQ==' }],
  ])

const refusal = random => ({
  allowed: random.weighted([
    [8, false],
    [1, null],
    [0.5, 'false'],
  ]),
  ...(random.chance(0.85) && {
    status: {
      ...(random.chance(0.7) && { message: random.pick(['not here', '', 'line\nbreak', '<b>&"ä', 'x'.repeat(3000)]) }),
      ...(random.chance(0.6) && {
        code: random.pick([400, 403, 404, 409, 418, 422, 429, 500, 503, 200, 0, 99, 399, 600, 999]),
      }),
      ...(random.chance(0.5) && {
        reason: random.pick(['Forbidden', 'NotFound', 'AlreadyExists', 'Invalid', 'TooManyRequests', 'Made-Up', '']),
      }),
      ...(random.chance(0.2) && { status: random.pick(['Success', 'Failure', 'x']) }),
      ...(random.chance(0.3) && {
        details: random.pick([
          { name: 'a', kind: 'b', group: 'c' },
          { causes: [{ reason: 'FieldValueInvalid', field: 'spec.x', message: 'bad x' }] },
          { retryAfterSeconds: 7 },
          {},
        ]),
      }),
      ...(random.chance(0.1) && { metadata: { resourceVersion: '5' } }),
      ...(random.chance(0.05) && { apiVersion: 'v9', kind: 'Other' }),
    },
  }),
  ...(random.chance(0.2) && { warnings: random.pick(WARNINGS) }),
  ...(random.chance(0.1) && { auditAnnotations: random.pick(AUDIT_ANNOTATIONS) }),
})

const failingResponse = random =>
  random.pick([
    { status: 500, raw: 'out of order', type: 'text/plain' },
    { status: 404 },
    { status: 400, raw: '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"m","reason":"BadRequest"}' },
    { status: 503, raw: '' },
    { status: 429, raw: 'slow down', type: 'text/plain' },
    { status: 301 },
    { status: 204, raw: '' },
    { status: 201 },
    { status: 299 },
    { status: 300 },
    { status: 401, raw: '{}' },
    { status: 500, raw: 'x'.repeat(3000), type: 'text/html' },
    { status: 200, raw: '' },
    { status: 200, raw: 'null' },
    { status: 200, raw: '[]' },
    { status: 200, raw: '{"kind": "nothing that' },
    { status: 200, raw: '{} {}' },
    { status: 200, raw: 'kind: AdmissionReview\n' },
    { type: 'text/plain' },
    { type: 'application/yaml' },
    { type: 'application/vnd.kubernetes.protobuf' },
    { type: null },
    { type: 'application/json; charset=utf-8' },
    { reset: true },
  ])

const oddReview = random =>
  random.pick([
    { uid: null },
    { uid: 'other' },
    { uid: 5 },
    { response: null },
    { response: [] },
    { response: 'x' },
    { review: { apiVersion: null } },
    { review: { kind: null } },
    { review: { apiVersion: 'admission.k8s.io/v9' } },
    { review: { apiVersion: 'example.com/v1' } },
    { review: { kind: 'Something' } },
    { review: { apiVersion: 5 } },
    { review: { apiVersion: 'a/b/c' } },
    { review: { unknown: { a: 1 } } },
    { review: { metadata: { name: 'x' } } },
    { response: { unknown: 1 } },
    { response: { allowed: 1 } },
    { response: { allowed: true, Allowed: false } },
    { response: { patchType: 5 } },
    { response: { status: 'x' } },
    { response: { status: { code: '403' } } },
    { response: { allowed: false, status: { code: 1.5 } } },
    { response: { allowed: false, status: { code: -1 } } },
  ])

function admissionStep(random, i) {
  const dryRun = random.chance(0.15) ? '?dryRun=All' : ''
  const labels = random.chance(0.3) ? { color: 'blue' } : {}
  return random.weighted([
    [4, () => post(configMaps + dryRun, configMap(`n${i}`, labels))],
    [2, () => post(deployments + dryRun, deployment(`n${i}`))],
    [2, () => patch('merge', `${configMaps}/a${dryRun}`, { data: { a: String(i) } })],
    [1, () => put(`${configMaps}/a${dryRun}`, configMap('a', labels, { a: String(i + 5) }))],
    [1, () => patch('apply', `${configMaps}/a?fieldManager=m`, configMap('a', labels, { c: String(i) }))],
    [1, () => patch('apply', `${configMaps}/applied${i}?fieldManager=m`, configMap(`applied${i}`, labels))],
    [1, () => patch('json', `${configMaps}/a`, [{ op: 'add', path: '/data/x', value: String(i) }])],
    [1, () => patch('strategic', `${deployments}/a`, { spec: { replicas: i } })],
    [1, () => patch('merge', `${deployments}/a/scale${dryRun}`, { spec: { replicas: i + 1 } })],
    [1, () => patch('merge', `${deployments}/a/status`, { status: { replicas: i } })],
    [1, () => remove(`${configMaps}/a${dryRun}`)],
    [1, () => remove(`${configMaps}/n${random.below(3)}`)],
    [0.7, () => remove(configMaps)],
    [0.5, () => post(configMaps, mutate(random, configMap(`m${i}`), 1))],
  ])()
}

// ---- conversion
// Its calls are not compared: watches of the servers themselves, and of controllers beside them, convert objects, too.

const GROUP = `${TOKEN}.example.com`
const objectsIn = version => `/apis/${GROUP}/${version}/namespaces/${NAMESPACE}/widgets`
const widgetIn = (version, name, spec, metadata = {}) => ({
  apiVersion: `${GROUP}/${version}`,
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec,
})

const VERSIONS = ['v1', 'v2']

function conversion(random) {
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          a: { type: 'string' },
          n: { type: 'integer' },
          list: { type: 'array', items: { type: 'string' } },
          d: { type: 'string', default: 'd' },
        },
      },
      status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  }
  const strategyOf = answer => ({
    strategy: 'Webhook',
    webhook: {
      conversionReviewVersions: random.weighted([
        [6, ['v1']],
        [1, ['v1beta1']],
        [1, ['v9', 'v1']],
      ]),
      clientConfig: { url: urlOf(pathOfAnswer('convert', answer)), caBundle: CA_BUNDLE },
    },
  })
  const hasSubresources = random.chance(0.4)
  const versionOf = name => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema: schema },
    ...(hasSubresources && {
      subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
    }),
    ...(random.chance(0.3) && { additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }] }),
  })
  const definition = definitionOf(undefined, {
    versions: VERSIONS.map(versionOf),
    spec: { conversion: strategyOf(random.chance(0.4) ? conversionAnswer(random) : goodConversion(random)) },
  })
  const steps = [
    createNamespace(),
    ...install(definition),
    // Objects that were stored before any conversion.
    ...['a', 'b', 'c'].map(name => post(objectsIn('v1'), widgetIn('v1', name, { a: name, n: 1 }))),
    ...random.times(random.between(6, 10), i => conversionStep(random, i)),
  ]
  if (random.chance(0.5)) {
    const spec = { ...definition.spec, conversion: strategyOf(conversionAnswer(random)) }
    const path = `${DEFINITIONS}/${definition.metadata.name}`
    const before = steps.length
    steps.push(
      { ...get(path), unchecked: true },
      put(
        path,
        {
          ...definition,
          metadata: { ...definition.metadata, resourceVersion: `{{${before}.metadata.resourceVersion}}` },
          spec,
        },
        { unchecked: true },
      ),
      { sleep: 1200 },
      ...random.times(random.between(6, 10), i => conversionStep(random, i + 10)),
    )
  }
  return {
    about: 'a conversion webhook',
    webhooks: WEBHOOK_PORT,
    steps,
    cleanup: [`${DEFINITIONS}/${definition.metadata.name}`],
  }
}

const goodConversion = random =>
  random.pick([
    {},
    { each: { set: { '/spec/a': 'converted' } } },
    { each: { set: { '/metadata/labels': { converted: 'yes' } } } },
    { each: { set: { '/metadata/annotations': { converted: 'yes' } }, remove: ['/spec/n'] } },
    { each: { set: { '/spec/unknown': 1 } } },
    { each: { remove: ['/spec/d'] } },
    { each: { remove: ['/status'] } },
  ])

function conversionAnswer(random) {
  return random.weighted([
    [3, () => goodConversion(random)],
    [3, () => ({ objects: random.pick(['reversed', 'fewer', 'more', 'none', 'unconverted']) })],
    [4, () => ({ each: random.pick(CHANGES) })],
    [2, () => ({ response: random.pick(RESULTS) })],
    [2, () => failingResponse(random)],
    [2, () => oddConversionReview(random)],
    [0.3, () => ({ pad: 3_300_000 })],
    [
      1,
      () => ({
        each: { set: { [random.pick(['/spec', '/spec/a', '/metadata', '/status', '/spec/n'])]: hostileValue(random) } },
      }),
    ],
  ])()
}

const CHANGES = [
  { set: { '/metadata/name': 'other' } },
  { set: { '/metadata/namespace': 'other' } },
  { set: { '/metadata/uid': '00000000-1111-2222-3333-444444444444' } },
  { set: { '/metadata/resourceVersion': '1' } },
  { set: { '/metadata/generation': 99 } },
  { set: { '/metadata/finalizers': ['example.com/x'] } },
  { set: { '/metadata/ownerReferences': [] } },
  { set: { '/metadata/creationTimestamp': null } },
  { set: { '/metadata/managedFields': [] } },
  { set: { '/metadata/labels': { a: 1 } } },
  { set: { '/metadata/labels': { 'bad key': 'x' } } },
  { set: { '/metadata/annotations': { a: null } } },
  { set: { '/metadata': null } },
  { set: { '/kind': 'Other' } },
  { set: { '/apiVersion': 'other.example.com/v1' } },
  { set: { '/apiVersion': '' } },
  { set: { '/spec': null } },
  { set: { '/spec': 'text' } },
  { set: { '/spec/n': 'text' } },
  { set: { '/spec/n': 1.5 } },
  { set: { '/spec/list': [1] } },
  { remove: ['/metadata'] },
  { remove: ['/kind'] },
  { remove: ['/spec'] },
  { remove: ['/metadata/uid'] },
  { remove: ['/metadata/name'] },
]

const RESULTS = [
  { result: { status: 'Failed', message: 'cannot be parsed' } },
  { result: { status: 'Failure' } },
  { result: { status: 'Failure', message: 'a\nb', reason: 'NotFound', code: 404 } },
  { result: { status: 'success' } },
  { result: {} },
  { result: null },
  { result: 'Success' },
  { result: { status: 'Success', message: 'fine' } },
  { convertedObjects: null },
  { convertedObjects: [null] },
  { convertedObjects: [{}] },
  { convertedObjects: ['x'] },
  { convertedObjects: {} },
  { unknown: 1 },
]

const oddConversionReview = random =>
  random.pick([
    { uid: null },
    { uid: 'other' },
    { response: null },
    { review: { apiVersion: null } },
    { review: { kind: null } },
    { review: { apiVersion: 'apiextensions.k8s.io/v9' } },
    { review: { apiVersion: 'apiextensions.k8s.io/v1beta1' } },
    { review: { kind: 'Something' } },
    { review: { unknown: 1 } },
  ])

function conversionStep(random, i) {
  const version = random.pick(['v1', 'v2', 'v2'])
  const path = objectsIn(version)
  const name = random.pick(['a', 'b', 'c'])
  const table = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } }
  const dryRun = random.chance(0.1) ? '?dryRun=All' : ''
  return random.weighted([
    [3, () => get(`${path}/${name}`)],
    [3, () => get(path)],
    [1, () => get(`${path}?limit=2`)],
    [1, () => get(path, table)],
    [2, () => post(path + dryRun, widgetIn(version, `n${i}`, { a: 'x', n: i }))],
    [2, () => patch('merge', `${path}/${name}${dryRun}`, { spec: { n: i } })],
    [1, () => patch('json', `${path}/${name}`, [{ op: 'add', path: '/metadata/labels', value: { i: String(i) } }])],
    [2, () => patch('apply', `${path}/${name}?fieldManager=m&force=true`, widgetIn(version, name, { n: i }))],
    [1, () => put(`${path}/${name}`, widgetIn(version, name, { a: 'put', n: i }))],
    [1, () => patch('merge', `${path}/${name}/status`, { status: { n: i } })],
    [1, () => get(`${path}/${name}/scale`)],
    [1, () => remove(`${path}/${name}${dryRun}`)],
    [0.7, () => remove(path)],
  ])()
}
