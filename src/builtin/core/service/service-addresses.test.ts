import { beforeAll, describe, expect, test } from 'vitest'
import { printFieldError } from '../../../meta/errors/field-errors.js'
import { objectAt } from '../../../meta/values/access.js'
import type { ValueObject } from '../../../meta/values/value.js'
import { changed, created } from '../../written-objects.suite.js'
import { addressPool } from './address-pool.js'
import { assignAddresses, releaseAddresses } from './service-addresses.js'

const service = (spec: ValueObject): ValueObject =>
  created('v1', 'Service', { spec: { ports: [{ port: 80 }], ...spec } })

const newPool = () => addressPool({ range: '10.0.0.0/29' })

const errorsFor = async (spec: ValueObject, pool = newPool()): Promise<string[]> =>
  (await assignAddresses(service(spec), undefined, pool)).errors.map(printFieldError)

describe('a new service', () => {
  test('gets an address of the range and the families that go with it', async () => {
    const object = service({})
    expect((await assignAddresses(object, undefined, newPool())).errors).toEqual([])
    const spec = objectAt(object, 'spec')
    expect(spec['clusterIP']).toMatch(/^10\.0\.0\.[1-6]$/)
    expect(spec).toMatchObject({
      clusterIPs: [spec['clusterIP']],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    })
  })

  test('may name its address with leading zeros unless the pool is strict', async () => {
    const named = { clusterIP: '10.0.0.03', clusterIPs: ['10.0.0.03'] }
    expect(await errorsFor(named)).toEqual(['spec.clusterIPs[0]: Invalid value: "10.0.0.03": must not have leading 0s'])
    expect(await errorsFor(named, addressPool({ range: '10.0.0.0/29', isStrict: false }))).toEqual([])
  })

  test('shows the first address of the range in a dry run', async () => {
    const object = service({})
    await assignAddresses(object, undefined, addressPool({ range: '10.0.0.0/29', dryRun: true }))
    expect(objectAt(object, 'spec')['clusterIP']).toBe('10.0.0.0')
  })

  test('cannot have the address of the network', async () => {
    expect(await errorsFor({ clusterIP: '10.0.0.0' })).toEqual([
      'spec.clusterIPs: Invalid value: ["10.0.0.0"]: failed to allocate IP 10.0.0.0: the provided network does not match the current range',
    ])
  })

  test('gets the address that it asks for, once', async () => {
    const pool = newPool()
    expect(await errorsFor({ clusterIP: '10.0.0.3' }, pool)).toEqual([])
    expect(await errorsFor({ clusterIP: '10.0.0.3' }, pool)).toEqual([
      'spec.clusterIPs: Invalid value: ["10.0.0.3"]: failed to allocate IP 10.0.0.3: provided IP is already allocated',
    ])
  })

  test('without a request is shown with an empty address if none can be allocated', async () => {
    const pool = { ...newPool(), takeAddress: async () => ({ ok: false, error: 'no name' }) as const }
    expect(await errorsFor({}, pool)).toEqual(['spec.clusterIPs: Invalid value: [""]: failed to allocate IP: no name'])
  })

  test.each<[ValueObject, string]>([
    [
      { clusterIP: '192.0.2.7' },
      'spec.clusterIPs: Invalid value: ["192.0.2.7"]: failed to allocate IP 192.0.2.7: the provided network does not match the current range',
    ],
    [
      { type: 'Unknown', clusterIP: '192.0.2.7' },
      'spec.clusterIPs: Invalid value: ["192.0.2.7"]: failed to allocate IP 192.0.2.7: the provided network does not match the current range',
    ],
    [{ clusterIP: '::1' }, 'spec.clusterIPs[0]: Invalid value: ["::1"]: IPv6 is not configured on this cluster'],
    [{ ipFamilies: ['IPv6'] }, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
    [
      { ipFamilyPolicy: 'RequireDualStack' },
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
    [
      { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] },
      'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    ],
  ])('cannot have %j', async (spec, error) => {
    expect(await errorsFor(spec)).toEqual([error])
  })

  // As recorded.
  test('has addresses of its families, whatever else is wrong', async () => {
    expect(await errorsFor({ clusterIPs: ['10.0.0.3', 'fd00::1'], ipFamilies: ['IPv6'] })).toEqual([
      'spec.clusterIPs: Invalid value: ["10.0.0.3","fd00::1"]: must be empty when `clusterIP` is not specified',
      'spec.clusterIPs[0]: Invalid value: "10.0.0.3": expected an IPv6 value as indicated by `ipFamilies[0]`',
    ])
    expect(await errorsFor({ clusterIPs: ['10.0.0.3'], ipFamilies: ['X'] })).toEqual([
      'spec.clusterIPs: Invalid value: ["10.0.0.3"]: must be empty when `clusterIP` is not specified',
      'spec.ipFamilies[0]: Unsupported value: "X": supported values: "IPv4", "IPv6"',
    ])
  })

  test('without an address and a selector is open to both families', async () => {
    const object = service({ clusterIP: 'None' })
    await assignAddresses(object, undefined, newPool())
    expect(objectAt(object, 'spec')).toMatchObject({
      clusterIPs: ['None'],
      ipFamilies: ['IPv4', 'IPv6'],
      ipFamilyPolicy: 'RequireDualStack',
    })
  })

  test('gives back what it took if it is not stored', async () => {
    const pool = newPool()
    const { undo } = await assignAddresses(service({ clusterIP: '10.0.0.3' }), undefined, pool)
    await undo()
    expect(await errorsFor({ clusterIP: '10.0.0.3' }, pool)).toEqual([])
  })
})

test('a pool that is used up says so', async () => {
  const pool = newPool()
  for (let i = 0; i < 6; i++) expect(await errorsFor({}, pool)).toEqual([])
  await expect(errorsFor({}, pool)).rejects.toThrow(/failed to allocate a serviceIP for Service ".*": range is full/)
})

describe('node ports', () => {
  const portsOf = (object: ValueObject): unknown[] =>
    (objectAt(object, 'spec')['ports'] as ValueObject[]).map(port => port['nodePort'])

  test('are the same for one port in two protocols', async () => {
    const dns = service({
      type: 'NodePort',
      ports: [
        { name: 'tcp', port: 53 },
        { name: 'udp', port: 53, protocol: 'UDP', nodePort: 30_053 },
      ],
    })
    expect((await assignAddresses(dns, undefined, newPool())).errors).toEqual([])
    expect(portsOf(dns)).toEqual([30_053, 30_053])
  })

  test('are taken whatever the protocol', async () => {
    const pool = newPool()
    const wish = (protocol: string) => ({ type: 'NodePort', ports: [{ port: 1, protocol, nodePort: 30_001 }] })
    expect(await errorsFor(wish('TCP'), pool)).toEqual([])
    expect(await errorsFor(wish('UDP'), pool)).toEqual([
      'spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated',
    ])
  })
})

describe('a service that was stored with clusterIP alone', () => {
  const old: ValueObject = { metadata: { name: 'a' }, spec: { type: 'ClusterIP', clusterIP: '10.0.0.3' } }

  test('keeps its address', async () => {
    const pool = newPool()
    await pool.takeAddress('IPv4', '10.0.0.3')
    const now = service({ clusterIP: '10.0.0.3' })
    expect((await assignAddresses(now, old, pool)).errors).toEqual([])
    expect(objectAt(now, 'spec')).toMatchObject({ clusterIP: '10.0.0.3', clusterIPs: ['10.0.0.3'] })
  })

  test('gives it back', async () => {
    const pool = newPool()
    await pool.takeAddress('IPv4', '10.0.0.3')
    await releaseAddresses(old, undefined, pool)
    expect(await errorsFor({ clusterIP: '10.0.0.3' }, pool)).toEqual([])
  })
})

describe('an update', () => {
  const pool = newPool()
  const old = service({ type: 'NodePort', clusterIP: '10.0.0.2' })
  beforeAll(() => assignAddresses(old, undefined, pool))
  const update = async (spec: ValueObject): Promise<ValueObject> => {
    const object = changed('v1', 'Service', old, { spec })
    expect((await assignAddresses(object, old, pool)).errors).toEqual([])
    return objectAt(object, 'spec')
  }

  test('keeps what the client does not mention', async () => {
    const ports = objectAt(old, 'spec')['ports']!
    expect(await update({ clusterIP: null, clusterIPs: null, ports: [{ port: 80 }] })).toMatchObject({
      clusterIP: '10.0.0.2',
      clusterIPs: ['10.0.0.2'],
      ports,
    })
  })

  test('to another type loses what only the old one has', async () => {
    const spec = await update({ type: 'ClusterIP' })
    expect(spec).not.toHaveProperty('externalTrafficPolicy')
    expect(spec['ports']).toEqual([{ protocol: 'TCP', port: 80, targetPort: 80 }])
    const named = await update({ type: 'ExternalName', externalName: 'x', clusterIP: null, clusterIPs: null })
    expect(named).toEqual({
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      type: 'ExternalName',
      sessionAffinity: 'None',
      externalName: 'x',
    })
  })

  // As recorded: one of the two linked fields that changes alone, beside the type, is left as it is.
  test('to another type keeps an address that was changed with it', async () => {
    const named = await update({ type: 'ExternalName', externalName: 'x', clusterIP: 'None', clusterIPs: null })
    expect(named).toMatchObject({ clusterIP: 'None' })
    expect(named).not.toHaveProperty('clusterIPs')
  })

  test('to an unknown type, which is refused later, keeps the addresses', async () => {
    expect(await update({ type: 'Unknown' })).toMatchObject({ clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] })
  })

  test('gives back what is no longer used', async () => {
    await releaseAddresses(old, undefined, pool)
    expect(await errorsFor({ clusterIP: '10.0.0.2' }, pool)).toEqual([])
  })
})

test('a range must be one', () => {
  expect(() => addressPool({ range: 'x/24' })).toThrow('is not a range of addresses')
})

describe('with two ranges', () => {
  const dual = () => addressPool({ range: '10.0.0.0/29,fd00::/108' })
  const specOf = async (given: ValueObject, old?: ValueObject): Promise<ValueObject> => {
    const object = service(given)
    const { errors } = await assignAddresses(object, old && service(old), dual())
    return { ...objectAt(object, 'spec'), errors: errors.map(printFieldError) }
  }
  const IPV6 = expect.stringMatching(/^fd00::/) as unknown

  test.each([
    [{}, ['IPv4'], 'SingleStack'],
    [{ ipFamilyPolicy: 'PreferDualStack' }, ['IPv4', 'IPv6'], 'PreferDualStack'],
    [{ ipFamilies: ['IPv6'] }, ['IPv6'], 'SingleStack'],
    [{ ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] }, ['IPv6', 'IPv4'], 'RequireDualStack'],
  ])('%j gets the families %j', async (given, ipFamilies, ipFamilyPolicy) => {
    const spec = await specOf(given)
    expect(spec).toMatchObject({ ipFamilies, ipFamilyPolicy, errors: [] })
    expect(spec['clusterIPs']).toEqual(ipFamilies.map(family => (family === 'IPv6' ? IPV6 : expect.any(String))))
  })

  test('two families need a policy', async () => {
    const why = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"
    const { errors } = await specOf({ ipFamilies: ['IPv4', 'IPv6'] })
    expect(errors).toEqual([`spec.ipFamilyPolicy: Invalid value: "SingleStack": ${why}`])
  })

  const both = {
    clusterIP: '10.0.0.1',
    clusterIPs: ['10.0.0.1', 'fd00::1'],
    ipFamilies: ['IPv4', 'IPv6'],
    ipFamilyPolicy: 'RequireDualStack',
  }

  test('an update to SingleStack gives back the second address', async () => {
    const spec = await specOf({ ...both, ipFamilyPolicy: 'SingleStack' }, both)
    expect(spec).toMatchObject({ clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'], errors: [] })
  })

  test('with another policy, the second family stays', async () => {
    const { errors } = await specOf({ ...both, ipFamilies: ['IPv4'] }, both)
    const why = "must be 'SingleStack' to release the secondary IP family"
    expect(errors).toEqual([`spec.ipFamilyPolicy: Invalid value: "RequireDualStack": ${why}`])
  })
})

test('the first addresses and ports of a range are left for services that name them', async () => {
  const pool = addressPool({ range: '10.0.0.0/24' })
  for (let i = 0; i < 238; i++) {
    const { value } = (await pool.takeAddress('IPv4')) as { value: string }
    expect(Number(value.split('.')[3])).toBeGreaterThan(16)
  }
  expect(await pool.takeAddress('IPv4')).toMatchObject({ ok: true, value: expect.stringMatching(/\.([1-9]|1[0-6])$/) })
})

test('an update takes no address for a service that has none', async () => {
  const old: ValueObject = { metadata: { name: 'a' }, spec: { type: 'ClusterIP', ports: [{ port: 80 }] } }
  const object: ValueObject = { metadata: { name: 'a' }, spec: { type: 'ClusterIP', ports: [{ port: 81 }] } }
  expect((await assignAddresses(object, old, newPool())).errors).toEqual([])
  expect(objectAt(object, 'spec')).toMatchObject({ ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' })
  expect(objectAt(object, 'spec')).not.toHaveProperty('clusterIPs')
})
