import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { applyDefaults, strategyOf, validationOf } from '../written-objects.suite.js'

/** The errors of a new object, with its defaults. */
const errorsOf = (apiVersion: string, kind: string, object: ValueObject): string[] =>
  validationOf(apiVersion, kind, false)
    .create(applyDefaults(apiVersion, kind, { metadata: { name: 'x' }, ...object }))
    .map(printFieldError)

describe('a policy', () => {
  const GROUP = 'admissionregistration.k8s.io/v1'
  const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
  const matchConstraints = { resourceRules: [rule] }
  const policy = (spec: ValueObject): string[] =>
    errorsOf(GROUP, 'ValidatingAdmissionPolicy', {
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
      { validations: [{ expression: '1' }] },
      ['spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int'],
    ],
    [{ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }, []],
    [{ paramKind: { apiVersion: 'v1' } }, ['spec.paramKind.kind: Required value']],
    [
      { variables: [{ name: '1', expression: 'true' }] },
      ['spec.variables[0].name: Invalid value: "1": must be a valid CEL identifier'],
    ],
    [{ matchConstraints: { resourceRules: [{ ...rule, resources: ['pods', '*', 'pods/log'] }] } }, []],
    [
      { matchConstraints: { resourceRules: [{ ...rule, resources: ['*/*', 'a/*'] }] } },
      [
        `spec.matchConstraints.resourceRules[0].resources[1]: Invalid value: "a/*": if '*/*' is present, must not specify a/*`,
        `spec.matchConstraints.resourceRules[0].resources: Invalid value: ["*/*","a/*"]: if '*/*' is present, must not specify other resources`,
      ],
    ],
    [
      { variables: [{ name: 'namespace', expression: 'true' }] },
      ['spec.variables[0].name: Invalid value: "namespace": must be a valid CEL identifier'],
    ],
    [
      {
        auditAnnotations: [
          { key: 'a', valueExpression: '"b"' },
          { key: 'a', valueExpression: '"b"' },
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
    expect(errorsOf(GROUP, 'MutatingAdmissionPolicy', { spec })).toEqual([
      'spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch',
      'spec.mutations[0].applyConfiguration: Invalid value: "{applyConfiguration}": must not be specified when patchType is JSONPatch',
    ])
  })
})

describe('a binding of a mutating policy', () => {
  const MISSING = ['spec.paramRef.parameterNotFoundAction: Required value']
  test.each([
    ['v1', MISSING, undefined],
    ['v1beta1', MISSING, 'deprecated in v1.37+, unavailable in v1.40+; use admissionregistration.k8s.io/v1'],
    ['v1alpha1', [], 'deprecated in v1.35+, unavailable in v1.38+'],
  ])('in %s without parameterNotFoundAction', (version, errors, warning) => {
    const apiVersion = `admissionregistration.k8s.io/${version}`
    const kind = 'MutatingAdmissionPolicyBinding'
    expect(errorsOf(apiVersion, kind, { spec: { policyName: 'x', paramRef: { name: 'x' } } })).toEqual(errors)
    const { deprecationWarning } = strategyOf(apiVersion, kind)
    if (warning === undefined) expect(deprecationWarning).toBeUndefined()
    else expect(deprecationWarning).toContain(warning)
  })
})
