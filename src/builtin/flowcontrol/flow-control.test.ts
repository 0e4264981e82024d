import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { applyDefaults, validationOf } from '../written-objects.suite.js'
import { flowControlObjects } from './bootstrap-objects.js'

/** The errors of a new object, with its defaults. */
const errorsOf = (apiVersion: string, kind: string, object: ValueObject): string[] =>
  validationOf(apiVersion, kind, false)
    .create(applyDefaults(apiVersion, kind, { metadata: { name: 'x' }, ...object }))
    .map(printFieldError)

describe('the flow of requests', () => {
  const GROUP = 'flowcontrol.apiserver.k8s.io/v1'
  const schema = (spec: ValueObject, name = 'x'): string[] =>
    errorsOf(GROUP, 'FlowSchema', { metadata: { name }, spec: { priorityLevelConfiguration: { name: 'l' }, ...spec } })
  const level = (limited: ValueObject): string[] =>
    errorsOf(GROUP, 'PriorityLevelConfiguration', { spec: { type: 'Limited', limited } })
  const everyone = [{ kind: 'Group', group: { name: 'g' } }]

  test('what every cluster starts with is right', () => {
    const errors = flowControlObjects().flatMap(object => errorsOf(object.apiVersion, object.kind, object))
    expect(errors).toEqual([])
  })

  test('what is the same everywhere stays so', () => {
    expect(schema({ matchingPrecedence: 1 }, 'exempt')).toEqual([
      expect.stringMatching(/^spec: Invalid value: \{.*: spec of 'exempt' must equal the fixed value$/),
    ])
    const exempt = { nominalConcurrencyShares: 5, lendablePercent: 10 }
    const object = { metadata: { name: 'exempt' }, spec: { type: 'Exempt', exempt } }
    expect(errorsOf(GROUP, 'PriorityLevelConfiguration', object)).toEqual([])
  })

  test.each<[ValueObject, string]>([
    [{ matchingPrecedence: 1 }, "only the schema named 'exempt' may have matchingPrecedence 1"],
    [{ matchingPrecedence: 10_001 }, 'must not be greater than 10000'],
    [
      { distinguisherMethod: { type: 'Odd' } },
      'spec.distinguisherMethod.type: Unsupported value: {"Type":"Odd"}: supported values: "ByNamespace", "ByUser"',
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

  test('hands of queues can be errorsOf apart', () => {
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
