import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { applyDefaults, validationOf } from '../written-objects.suite.js'

/** The errors of a new object, with its defaults. */
const errorsOf = (apiVersion: string, kind: string, object: ValueObject): string[] =>
  validationOf(apiVersion, kind, false)
    .create(applyDefaults(apiVersion, kind, { metadata: { name: 'x' }, ...object }))
    .map(printFieldError)

describe('an API service', () => {
  const service = (spec: ValueObject, name = 'v1.example.com'): string[] =>
    errorsOf('apiregistration.k8s.io/v1', 'APIService', {
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
