// Admission policies with random expressions, and webhook configurations, for the objects of one namespace.
import { expressionOf } from '../expressions.mjs'
import { mutate } from '../mutations.mjs'
import { collectionOf, createNamespace, NAMESPACE, patch, post, remove, TOKEN } from '../requests.mjs'

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const selector = { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } }

/** `self` of the grammar is an object with fields that a ConfigMap has not, so its names are mapped onto what there is. */
const onConfigMap = expression =>
  expression
    .replace(/\bself\.(s|t|n|ios)\b/g, 'object.metadata.name')
    .replace(/\bself\.\?s\b/g, "object.?metadata.?labels[?'a']")
    .replace(/\bself\.(i|j)\b/g, 'size(object.data)')
    .replace(/\bself\.o\.x\b/g, 'object.metadata.name.size()')
    .replace(/\bself\.o\.y\b/g, 'object.data.a')
    .replace(/\bself\.d\b/g, '1.25')
    .replace(/\bself\.b\b/g, 'has(object.data)')
    .replace(/\bself\.m\b/g, 'object.data')
    .replace(/\bself\.(ls|set)\b/g, 'object.data.map(k, k)')
    .replace(/\bself\.l\b/g, '[1, 2]')
    .replace(/\bself\.when\b/g, "timestamp('2024-02-29T12:30:45Z')")
    .replace(/\bself\.long\b/g, "duration('1h')")
    .replace(/\bself\.by\b/g, "b'x'")

const contextual = [
  'request.operation',
  'request.name',
  'request.namespace',
  'request.userInfo.username',
  'namespaceObject.metadata.name',
  'variables.v',
  'string(request.dryRun)',
  'request.resource.resource',
  'string(oldObject == null)',
  "string(authorizer.group('').resource('pods').namespace('x').check('get').allowed())",
  'request.kind.kind',
  "object.metadata.?namespace.orValue('none')",
]

function policyOf(random) {
  const bool = () => onConfigMap(expressionOf(random, 'bool', random.between(1, 2)))
  const text = () => (random.chance(0.5) ? random.pick(contextual) : onConfigMap(expressionOf(random, 'string', 2)))
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: `p-${TOKEN}` },
    spec: {
      ...(random.chance(0.3) && { failurePolicy: random.pick(['Fail', 'Ignore']) }),
      matchConstraints: {
        namespaceSelector: selector,
        resourceRules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: random.pick([['CREATE', 'UPDATE', 'DELETE'], ['CREATE'], ['*']]),
            resources: ['configmaps'],
          },
        ],
      },
      variables: [{ name: 'v', expression: text() }],
      validations: [
        { expression: "object == null || object.metadata.name != 'probe'", message: 'the probe' },
        ...random.times(random.between(1, 3), () => ({
          expression: bool(),
          ...(random.chance(0.6) && { messageExpression: text() }),
          ...(random.chance(0.2) && {
            reason: random.pick(['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized', 'Other']),
          }),
        })),
      ],
      ...(random.chance(0.3) && { matchConditions: [{ name: 'c', expression: bool() }] }),
      ...(random.chance(0.2) && { auditAnnotations: [{ key: 'k', valueExpression: text() }] }),
    },
  }
}

const bindingOf = random => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: `p-${TOKEN}` },
  spec: {
    policyName: `p-${TOKEN}`,
    validationActions: random.pick([['Deny'], ['Warn'], ['Deny', 'Audit'], ['Warn', 'Audit']]).concat(),
    ...(random.chance(0.2) && {
      matchResources: { objectSelector: { matchExpressions: [{ key: 'skip', operator: 'DoesNotExist' }] } },
    }),
  },
})

export async function policies(random, ask) {
  if (random.chance(0.25)) return refusedConfigurations(random)
  const candidates = random.times(4, () => policyOf(random))
  const path = `${GROUP}/validatingadmissionpolicies`
  const checks = candidates.map(candidate => post(`${path}?dryRun=All`, candidate))
  let accepted
  for (const [i, check] of checks.entries()) if ((await ask(check)).status === 201) accepted ??= candidates[i]
  if (!accepted) return { about: 'policies that are refused', steps: checks }
  const configMaps = collectionOf('v1', 'configmaps', NAMESPACE)
  const configMap = (name, data) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { a: 'b' } },
    data,
  })
  const binding = bindingOf(random)
  const steps = [
    ...checks,
    createNamespace(),
    post(path, accepted),
    post(`${GROUP}/validatingadmissionpolicybindings`, binding),
    // Until the policy is in force: the probe is refused, or warned of.
    {
      ...post(`${configMaps}?dryRun=All`, configMap('probe', { a: '1' })),
      unchecked: true,
      eventually: true,
      timeoutMs: 4000,
      until: status => status !== 201,
    },
    { sleep: 300 },
    post(configMaps, configMap('hello', { a: '1', b: 'x' })),
    post(configMaps, configMap('a.b', { k: 'v' })),
    post(`${configMaps}?dryRun=All`, configMap('x', {})),
    patch('merge', `${configMaps}/hello`, { data: { c: '3' } }),
    remove(`${configMaps}/hello`),
  ]
  return {
    about: 'a policy',
    steps,
    cleanup: [`${GROUP}/validatingadmissionpolicybindings/p-${TOKEN}`, `${path}/p-${TOKEN}`],
  }
}

/** Configurations with mistakes, never stored. */
function refusedConfigurations(random) {
  const webhook = kind => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: `w-${TOKEN}` },
    webhooks: [
      {
        name: 'a.example.com',
        clientConfig: random.pick([{ url: 'https://127.0.0.1:1/x' }, { service: { name: 's', namespace: 'n' } }]),
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        namespaceSelector: selector,
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        ...(random.chance(0.4) && {
          matchConditions: [{ name: 'c', expression: onConfigMap(expressionOf(random, 'bool', 2)) }],
        }),
      },
    ],
  })
  const mutating = () => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: `m-${TOKEN}` },
    spec: {
      reinvocationPolicy: 'Never',
      matchConstraints: policyOf(random).spec.matchConstraints,
      mutations: [
        random.pick([
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: {
              expression: `Object{metadata: Object.metadata{labels: {'x': ${onConfigMap(expressionOf(random, 'string', 1))}}}}`,
            },
          },
          {
            patchType: 'JSONPatch',
            jsonPatch: {
              expression: `[JSONPatch{op: 'add', path: '/data/x', value: ${onConfigMap(expressionOf(random, 'string', 1))}}]`,
            },
          },
        ]),
      ],
    },
  })
  const make = random.pick([
    [() => webhook('ValidatingWebhookConfiguration'), 'validatingwebhookconfigurations'],
    [() => webhook('MutatingWebhookConfiguration'), 'mutatingwebhookconfigurations'],
    [() => policyOf(random), 'validatingadmissionpolicies'],
    [mutating, 'mutatingadmissionpolicies'],
    [() => bindingOf(random), 'validatingadmissionpolicybindings'],
  ])
  const [object, resource] = make
  return {
    about: `${resource} with mistakes`,
    steps: random.times(8, () =>
      post(
        `${GROUP}/${resource}?dryRun=All`,
        random.chance(0.3) ? object() : mutate(random, object(), random.between(1, 2)),
      ),
    ),
  }
}
