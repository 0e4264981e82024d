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

describe('the status of a claim', () => {
  const spec = { devices: { requests: [{ name: 'a', exactly: { deviceClassName: 'c' } }] } }
  const result = { request: 'a', driver: 'd.example.com', pool: 'p', device: 'gpu-0' }
  const withStatus = (status: ValueObject): ValueObject => ({
    metadata: { name: 'x', namespace: 'n', resourceVersion: '1' },
    spec,
    status,
  })
  const errorsOf = (status: ValueObject, old: ValueObject = {}): string[] =>
    rules('ResourceClaim').status!(withStatus(status), withStatus(old)).map(printFieldError)
  const allocation = { devices: { results: [result] } }
  const { request: _, ...device } = result

  test.each<[ValueObject, string[]]>([
    [{ allocation, devices: [device] }, []],
    [{ devices: [device] }, ['status.devices[0]: Invalid value: {"Driver":"d.example.com",']],
    [
      { reservedFor: [{ resource: 'pods', name: 'p', uid: 'u' }] },
      ['status.reservedFor: Forbidden: may not be specified when `allocated` is not set'],
    ],
    [
      { allocation: { devices: { results: [{ ...result, request: 'b' }] } } },
      ['status.allocation.devices.results[0].request: Invalid value: "b": must be the name of a request'],
    ],
    [
      { allocation, devices: [{ ...device, networkData: { ips: ['10.0.0.1', '10.0.0.01/24'] } }] },
      [
        'networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid address in CIDR form',
        'networkData.ips[1]: Invalid value: "10.0.0.01/24": must be in canonical form ("10.0.0.1/24")',
      ],
    ],
  ])('%j', (status, errors) => {
    expect(errorsOf(status)).toEqual(errors.map(error => expect.stringContaining(error)))
  })

  test('keeps its allocation', () => {
    const other = { devices: { results: [{ ...result, device: 'gpu-1' }] } }
    expect(errorsOf({ allocation }, { allocation })).toEqual([])
    expect(errorsOf({ allocation: other }, { allocation })).toEqual([
      expect.stringMatching(/^status.allocation: .* immutable$/),
    ])
  })

  test('loses the reports of devices that are taken away', () => {
    const claim = withStatus({ devices: [device] })
    const context = { now: '2024-01-02T03:04:05Z' }
    strategyOf(GROUP, 'ResourceClaim').prepareForStatusUpdate!(
      claim,
      withStatus({ allocation, devices: [device] }),
      context,
    )
    expect(claim['status']).toEqual({})
  })
})

describe('a slice', () => {
  const slice = (spec: ValueObject): ValueObject => ({
    metadata: { name: 'x', resourceVersion: '1' },
    spec: { driver: 'd.example.com', pool: { name: 'p', resourceSliceCount: 1 }, nodeName: 'n', ...spec },
  })
  const errorsOf = (spec: ValueObject): string[] => rules('ResourceSlice').create(slice(spec)).map(printFieldError)
  const shared = (requestPolicy: ValueObject): ValueObject => ({
    devices: [{ name: 'a', allowMultipleAllocations: true, capacity: { mem: { value: '8', requestPolicy } } }],
  })

  test.each<[ValueObject, string[]]>([
    [{}, []],
    [{ allNodes: true }, ['spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of']],
    [{ nodeName: undefined as never }, ['spec: Required value: exactly one of `nodeName`']],
    [
      { devices: [{ name: 'a', attributes: { 'bad name': {} } }] },
      ['spec.devices[0].attributes: Invalid', 'exactly one'],
    ],
    [{ devices: [{ name: 'a' }, { name: 'a' }] }, ['spec.devices[1]: Duplicate value: "a"']],
    [shared({ default: '2', validRange: { min: '1', max: '4', step: '3' } }), ['"2": value is not a multiple']],
    [shared({ default: '3', validValues: ['2', '1'] }), ['must be sorted', 'default value is not valid']],
  ])('%j', (spec, errors) => {
    expect(errorsOf(spec)).toEqual(errors.map(error => expect.stringContaining(error)))
  })

  test('keeps its driver, pool and node', () => {
    const [old, changed] = [
      slice({}),
      slice({ driver: 'e', nodeName: 'm', pool: { name: 'q', resourceSliceCount: 1 } }),
    ]
    const errors = rules('ResourceSlice').update(changed, old).map(printFieldError)
    expect(errors).toEqual(
      ['spec.pool.name', 'spec.driver', 'spec.nodeName'].map(path => expect.stringContaining(`${path}: Invalid`)),
    )
  })
})

test.each(['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'])(
  'a delete of a %s returns the object',
  kind => {
    expect(strategyOf('resource.k8s.io/v1', kind).returnsDeletedObject).toBe(true)
  },
)
