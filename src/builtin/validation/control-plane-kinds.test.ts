// The kinds that tell the server itself what to do: flows of requests, webhooks, policies, API services.
import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { flowControlObjects } from '../flow-control-objects.js'
import { applyDefaults, validationOf } from '../written-objects.suite.js'

/** What is wrong with a new object, once its defaults are filled in. */
const told = (apiVersion: string, kind: string, object: ValueObject): string[] =>
  validationOf(apiVersion, kind, false)
    .create(applyDefaults(apiVersion, kind, { metadata: { name: 'x' }, ...object }))
    .map(printFieldError)

describe('the flow of requests', () => {
  const GROUP = 'flowcontrol.apiserver.k8s.io/v1'
  const schema = (spec: ValueObject, name = 'x'): string[] =>
    told(GROUP, 'FlowSchema', { metadata: { name }, spec: { priorityLevelConfiguration: { name: 'l' }, ...spec } })
  const level = (limited: ValueObject): string[] =>
    told(GROUP, 'PriorityLevelConfiguration', { spec: { type: 'Limited', limited } })
  const everyone = [{ kind: 'Group', group: { name: 'g' } }]

  test('what every cluster starts with is right', () => {
    const errors = flowControlObjects().flatMap(object => told(object.apiVersion, object.kind, object))
    expect(errors).toEqual([])
  })

  test('what is the same everywhere stays so', () => {
    expect(schema({ matchingPrecedence: 1 }, 'exempt')).toEqual([
      expect.stringMatching(/^spec: Invalid value: \{.*: spec of 'exempt' must equal the fixed value$/),
    ])
    const exempt = { nominalConcurrencyShares: 5, lendablePercent: 10 }
    const object = { metadata: { name: 'exempt' }, spec: { type: 'Exempt', exempt } }
    expect(told(GROUP, 'PriorityLevelConfiguration', object)).toEqual([])
  })

  test.each<[ValueObject, string]>([
    [{ matchingPrecedence: 1 }, "only the schema named 'exempt' may have matchingPrecedence 1"],
    [{ matchingPrecedence: 10_001 }, 'must not be greater than 10000'],
    [
      { distinguisherMethod: { type: 'Odd' } },
      'spec.distinguisherMethod.type: Unsupported value: "Odd": supported values: "ByNamespace", "ByUser"',
    ],
    [
      { rules: [{ subjects: everyone, nonResourceRules: [{ verbs: ['*', 'get'], nonResourceURLs: ['/a'] }] }] },
      `spec.rules[0].nonResourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs`,
    ],
    [
      { rules: [{ subjects: everyone, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a*'] }] }] },
      'nonResourceURLs[0]: Invalid value: "/a*": wildcard can only do suffix matching',
    ],
    [
      {
        rules: [
          {
            subjects: everyone,
            resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: [] }],
          },
        ],
      },
      'resource rules that are not cluster scoped must supply at least one namespace',
    ],
    [
      {
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'u' }, group: { name: 'g' } }],
            nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/'] }],
          },
        ],
      },
      "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
    ],
  ])('with %j', (spec, error) => {
    expect(schema(spec)).toEqual([expect.stringContaining(error)])
  })

  test('hands of queues can be told apart', () => {
    const queuing = (queues: number, handSize: number) => ({
      limitResponse: { type: 'Queue', queuing: { queues, handSize } },
    })
    expect(level(queuing(64, 8))).toEqual([])
    expect(level(queuing(4, 8))).toEqual([
      'spec.limited.limitResponse.queuing.handSize: Invalid value: 8: should not be greater than queues (4)',
    ])
    expect(level(queuing(4096, 6))).toEqual([expect.stringContaining('required entropy bits of deckSize 4096')])
  })
})

describe('a webhook', () => {
  const GROUP = 'admissionregistration.k8s.io/v1'
  const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
  const webhook = (fields: ValueObject): string[] => {
    const good = {
      name: 'a.example.com',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig: { url: 'https://a' },
    }
    return told(GROUP, 'ValidatingWebhookConfiguration', { webhooks: [{ ...good, ...fields }] })
  }

  test('that says the least it must', () => {
    expect(webhook({ rules: [rule] })).toEqual([])
  })

  test.each<[ValueObject, string]>([
    [{ name: 'a.b' }, 'should be a domain with at least three segments separated by dots'],
    [{ admissionReviewVersions: ['v7'] }, 'must include at least one of v1, v1beta1'],
    [{ clientConfig: { url: 'http://a' } }, "'https' is the only allowed URL scheme"],
    [{ rules: [{ ...rule, apiVersions: ['v1', '*'] }] }, "if '*' is present, must not specify other API versions"],
    [{ rules: [{ ...rule, resources: ['*/*', 'pods'] }] }, "if '*/*' is present, must not specify other resources"],
    [
      { rules: [{ ...rule, resources: ['*/status', 'pods/status'] }] },
      "if '*/status' is present, must not specify pods/status",
    ],
    [
      { matchConditions: [{ name: 'a', expression: ' ' }] },
      'webhooks[0].matchConditions[0].expression: Required value',
    ],
  ])('with %j', (fields, error) => {
    expect(webhook(fields)).toEqual([expect.stringContaining(error)])
  })
})

describe('a policy', () => {
  const GROUP = 'admissionregistration.k8s.io/v1'
  const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
  const matchConstraints = { resourceRules: [rule] }
  const policy = (spec: ValueObject): string[] =>
    told(GROUP, 'ValidatingAdmissionPolicy', {
      spec: { matchConstraints, validations: [{ expression: 'true' }], ...spec },
    })

  test.each<[ValueObject, string[]]>([
    [{ matchConstraints: null }, ['spec.matchConstraints: Required value']],
    [{ matchConstraints: {} }, ['spec.matchConstraints.resourceRules: Required value']],
    [
      { validations: [] },
      [
        'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
        'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
      ],
    ],
    [
      { validations: [{ expression: 'a\n|| b' }] },
      ['spec.validations[0].message: Required value: message must be specified if expression contains line breaks'],
    ],
    [{ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }, []],
    [{ paramKind: { apiVersion: 'v1' } }, ['spec.paramKind.kind: Required value']],
    [
      { variables: [{ name: '1', expression: 'true' }] },
      ['spec.variables[0].name: Invalid value: "1": name is not a valid CEL identifier'],
    ],
    [
      {
        auditAnnotations: [
          { key: 'a', valueExpression: 'b' },
          { key: 'a', valueExpression: 'b' },
        ],
      },
      ['spec.auditAnnotations[1].key: Duplicate value: "a"'],
    ],
  ])('with %j', (spec, expected) => {
    expect(policy(spec)).toEqual(expected)
  })

  test('changes things by the kind of patch that it names', () => {
    const spec = {
      matchConstraints,
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'JSONPatch', applyConfiguration: { expression: 'Object{}' } }],
    }
    expect(told(GROUP, 'MutatingAdmissionPolicy', { spec })).toEqual([
      'spec.mutations[0].applyConfiguration: Forbidden: must not be specified for patchType JSONPatch',
      'spec.mutations[0].jsonPatch: Required value: must be specified for patchType JSONPatch',
    ])
  })
})

describe('an API service', () => {
  const service = (spec: ValueObject, name = 'v1.example.com'): string[] =>
    told('apiregistration.k8s.io/v1', 'APIService', {
      metadata: { name },
      spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, ...spec },
    })

  test.each<[ValueObject, string[]]>([
    [{}, []],
    [{ versionPriority: 1001 }, ['spec.versionPriority: Invalid value: 1001: must be positive and less than 1000']],
    [{ service: { name: 's' } }, ['spec.service.namespace: Required value']],
    [{ caBundle: 'AAAA' }, ['spec.caBundle: Invalid value: "3 bytes": local APIServices may not have a caBundle']],
    [
      { service: { namespace: 'n', name: 's' }, caBundle: 'AAAA', insecureSkipTLSVerify: true },
      ['spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present'],
    ],
  ])('with %j', (spec, expected) => {
    expect(service(spec)).toEqual(expected)
  })

  test('has the name of what it serves', () => {
    expect(service({}, 'x')).toEqual([
      'metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.example.com"',
    ])
  })
})
