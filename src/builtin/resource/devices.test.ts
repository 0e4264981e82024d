import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { applyDefaults, strategyOf, validationOf } from '../written-objects.suite.js'

const GROUP = 'resource.k8s.io/v1'
const rules = (kind: string) => validationOf(GROUP, kind, true)
const withDefaults = (kind: string, object: ValueObject): ValueObject => applyDefaults(GROUP, kind, object)

describe('a class of devices', () => {
  const picked = (expression: string): string[] =>
    rules('DeviceClass')
      .create({ metadata: { name: 'x' }, spec: { selectors: [{ cel: { expression } }] } })
      .map(printFieldError)

  test.each([
    'device.driver == "d.example.com"',
    'device.attributes["d.example.com"].model == "a"',
    'device.capacity["d.example.com"].memory.compareTo(quantity("1Gi")) >= 0',
    'device.attributes["d.example.com"].isFast',
  ])('that picks by %s', expression => {
    expect(picked(expression)).toEqual([])
  })

  test.each([
    ['device.driver', 'must evaluate to bool or the unknown type, not string'],
    ['device.nothing', "compilation failed: ERROR: <input>:1:7: undefined field 'nothing'"],
    ['object.x', "undeclared reference to 'object'"],
    ['', 'compilation failed: ERROR: <input>:1:0: Syntax error'],
  ])('that picks by %s', (expression, error) => {
    expect(picked(expression)).toEqual([expect.stringContaining(error)])
  })
})

describe('a claim to devices', () => {
  const claim = (devices: ValueObject): ValueObject =>
    withDefaults('ResourceClaim', { metadata: { name: 'x', namespace: 'n', resourceVersion: '1' }, spec: { devices } })
  const errorsOf = (devices: ValueObject): string[] =>
    rules('ResourceClaim').create(claim(devices)).map(printFieldError)
  const wanted = { deviceClassName: 'c' }

  test('is to one device unless it says otherwise', () => {
    const object = claim({
      requests: [
        { name: 'a', exactly: wanted },
        { name: 'b', firstAvailable: [wanted] },
      ],
    })
    const filled = { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 }
    expect(object).toMatchObject({
      spec: { devices: { requests: [{ exactly: filled }, { firstAvailable: [filled] }] } },
    })
  })

  test('to all devices has no count', () => {
    const exactly = { ...wanted, allocationMode: 'All', count: 2 }
    expect(errorsOf({ requests: [{ name: 'a', exactly }] })).toEqual([
      "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'",
    ])
  })

  test.each<[ValueObject, string]>([
    [
      { requests: [{ name: 'a', exactly: wanted, firstAvailable: [{ name: 'b', ...wanted }] }] },
      'is required, but multiple fields are set',
    ],
    [{ requests: [{ name: 'a', exactly: {} }] }, 'spec.devices.requests[0].exactly.deviceClassName: Required value'],
    [{ requests: [{ name: 'A', exactly: wanted }] }, 'spec.devices.requests[0].name: Invalid value: "A"'],
    [
      { requests: [{ name: 'a', exactly: wanted }], constraints: [{ requests: ['b'], matchAttribute: 'd/x' }] },
      'spec.devices.constraints[0].requests[0]: Invalid value: "b": must be the name of a request',
    ],
  ])('of %j', (devices, error) => {
    expect(errorsOf(devices)).toEqual([expect.stringContaining(error)])
  })

  test('stays as it is', () => {
    const old = claim({ requests: [{ name: 'a', exactly: wanted }] })
    const changed = claim({ requests: [{ name: 'b', exactly: wanted }] })
    expect(rules('ResourceClaim').update(old, old)).toEqual([])
    expect(rules('ResourceClaim').update(changed, old).map(printFieldError)).toEqual([
      expect.stringMatching(/^spec: Invalid value: \{"Devices":.*: field is immutable$/),
    ])
  })
})

test.each(['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'])(
  'a delete of a %s returns the object',
  kind => {
    expect(strategyOf('resource.k8s.io/v1', kind).returnsDeletedObject).toBe(true)
  },
)
