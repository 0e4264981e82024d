import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { atOnce } from '../../base/turns.js'
import { asGiven, hasGivenEmpty } from '../../meta/values/given-empty.js'
import { copyValue, type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import { withGivenEmpty } from '../given-empty.js'
import { builtinTypes } from '../type-table.js'
import { decodeAgain, decodeTyped, zeroOf } from './decode.js'
import { membersOf, typedValue } from './typed-values.suite.js'

const table = builtinTypes()

const decode = (kind: string, value: Value): ValueObject => decodeTyped(table.byName(`core/v1.${kind}`), value).value
const pod = (container: ValueObject): Value => ({ spec: { containers: [container] } })

describe('what is printed', () => {
  test('fields come in the order of the type, members of maps by key', () => {
    const value = { data: { b: '1', a: '2' }, apiVersion: 'v1', metadata: { name: 'x' }, kind: 'ConfigMap' }
    expect(JSON.stringify(decode('ConfigMap', value))).toBe(
      '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"},"data":{"a":"2","b":"1"}}',
    )
  })

  test('empty values vanish where the type says so, and are filled in where it does not', () => {
    expect(membersOf(decode('ConfigMap', { data: {}, immutable: null, metadata: { labels: {}, name: '' } }))).toEqual({
      metadata: {},
    })
    expect(decode('Event', {})).toEqual({
      metadata: {},
      involvedObject: {},
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      eventTime: null,
      reportingComponent: '',
      reportingInstance: '',
    })
    expect(decode('Service', { spec: { ports: [{ port: 1 }] } })).toEqual({
      metadata: {},
      spec: { ports: [{ port: 1, targetPort: 0 }] },
      status: { loadBalancer: {} },
    })
  })

  test('a pointer keeps a zero value that was given', () => {
    expect(decode('ConfigMap', { immutable: false })).toEqual({ metadata: {}, immutable: false })
  })

  test('null is as if nothing was given; in a map or list it is the empty value', () => {
    expect(decode('ConfigMap', { data: { a: null }, binaryData: null })).toEqual({ metadata: {}, data: { a: '' } })
    expect(decode('Secret', { data: { a: null } })).toEqual({ metadata: {}, data: { a: '' } })
    expect(decode('ServiceAccount', { secrets: [null] })).toEqual({ metadata: {}, secrets: [{}] })
  })

  test('an empty list or map is as good as none, but the object remembers it', () => {
    const role = decodeTyped(table.byName('rbac/v1.Role'), {
      rules: [],
      metadata: { labels: {}, finalizers: null },
    }).value
    expect(membersOf(role)).toEqual({ metadata: {}, rules: null })
    const again = decodeTyped(table.byName('rbac/v1.Role'), copyValue({ ...role })).value
    expect(asGiven(again, 'rules')).toEqual([])
    expect(asGiven(again['metadata'] as ValueObject, 'labels')).toEqual({})
    expect(asGiven(again['metadata'] as ValueObject, 'finalizers')).toBeNull()
    expect(withGivenEmpty(table.byName('rbac/v1.Role'), again)).toEqual(expect.objectContaining({ rules: [] }))
    expect(hasGivenEmpty(again)).toBe(true)
    expect(asGiven({ ...again, rules: [{}] }, 'rules')).toEqual([{}])
    const pods = decodeTyped(table.byName('core/v1.PodList'), { items: [] }).value
    expect(membersOf(pods)).toEqual({ metadata: {}, items: [] })
  })

  test('empty bytes are none, and remembered', () => {
    const { value } = decodeTyped(table.byName('certificates/v1.CertificateSigningRequestSpec'), { request: '' })
    expect(value['request']).toBeNull()
    expect(asGiven(value, 'request')).toBe('')
  })

  test('what was given empty is found in any part of an object', () => {
    const type = table.byName('core/v1.Pod')
    const spec = {
      nodeSelector: {},
      containers: [{ name: 'a', args: [], resources: { limits: {}, requests: { cpu: '1' } } }],
    }
    const { value } = decodeTyped(type, { metadata: { labels: { a: 'b' }, annotations: {} }, spec })
    expect(withGivenEmpty(type, value)).toMatchObject({
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'a' }] },
    })
    expect(
      withGivenEmpty(type, { ...value, spec: { ...(value['spec'] as ValueObject), nodeSelector: null } }),
    ).toHaveProperty('spec.nodeSelector', {})
  })

  test('quantities and times have one spelling', () => {
    const { spec } = decode(
      'Pod',
      pod({ name: 'c', resources: { limits: { cpu: 2, memory: '1.5Gi' }, requests: { cpu: 0.25 } } }),
    ) as { spec: ValueObject }
    expect(spec.containers).toEqual([
      { name: 'c', resources: { limits: { cpu: '2', memory: '1536Mi' }, requests: { cpu: '250m' } } },
    ])
    expect(decode('ConfigMap', { metadata: { creationTimestamp: '2020-01-01T02:00:00.5+02:00' } })).toEqual({
      metadata: { creationTimestamp: '2020-01-01T00:00:00Z' },
    })
  })

  test('base64 is spelled as Go writes it', () => {
    expect(decode('Secret', { data: { a: 'MQ\n==', b: 'MR==' } })).toEqual({
      metadata: {},
      data: { a: 'MQ==', b: 'MQ==' },
    })
  })

  test('an int64 is exact', () => {
    const value = { metadata: { generation: 9007199254740993n } }
    expect(decode('ConfigMap', value)).toEqual(value)
  })

  test('what is printed reads back as the same', () => {
    const types = ['core/v1.Pod', 'core/v1.Node', 'apps/v1.Deployment', 'core/v1.Service', 'core/v1.Event']
    fc.assert(
      fc.property(
        fc.constantFrom(...types).chain(type => fc.tuple(fc.constant(type), typedValue(table.byName(type)))),
        ([type, plain]) => {
          const { value } = decodeTyped(table.byName(type), plain)
          expect(decodeTyped(table.byName(type), value).value).toEqual(value)
        },
      ),
      { numRuns: 30 },
    )
  })

  test('the zero value of a type is what an empty object gives', () => {
    expect(zeroOf(table.byName('core/v1.NodeStatus'))).toEqual(
      decodeTyped(table.byName('core/v1.NodeStatus'), {}).value,
    )
  })
})

describe('fields that the type does not have', () => {
  test('are dropped and reported in the order of the document', () => {
    const { value, unknown } = decodeTyped(table.byName('apps/v1.Deployment'), {
      spec: { template: { spec: { containers: [{ name: 'c', comand: [] }] } }, replica: 3 },
      odd: { a: 1 },
    })
    expect(unknown).toEqual(['spec.template.spec.containers[0].comand', 'spec.replica', 'odd'])
    expect(JSON.stringify(value)).not.toMatch(/comand|"replica"|odd/)
  })

  test('names are case-sensitive', () => {
    expect(decodeTyped(table.byName('core/v1.ConfigMap'), { Data: {} }).unknown).toEqual(['Data'])
  })

  test('are reported together with duplicates, in the order of the document', () => {
    const value = { metadata: { odd: 1, labels: { a: '2' } }, data: { k: '2' }, extra: { x: 1 } }
    const duplicates = ['metadata.labels.a', 'data.k', 'extra.x', 'extra']
    expect(decodeTyped(table.byName('core/v1.ConfigMap'), value, { duplicates }).strict).toEqual([
      'unknown field "metadata.odd"',
      'duplicate field "metadata.labels.a"',
      'duplicate field "data.k"',
      'unknown field "extra"',
    ])
  })

  test('are counted up to a hundred', () => {
    const value = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`x${i}`, 1]))
    expect(decodeTyped(table.byName('core/v1.ConfigMap'), value).unknown).toHaveLength(100)
  })

  test('__proto__ is a name like any other', () => {
    const value = JSON.parse('{"__proto__": {"polluted": 1}, "data": {"__proto__": "x"}}') as Value
    const decoded = decodeTyped(table.byName('core/v1.ConfigMap'), value)
    expect(decoded.unknown).toEqual(['__proto__'])
    expect(JSON.stringify(decoded.value)).toBe('{"metadata":{},"data":{"__proto__":"x"}}')
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

describe('values of the wrong type are refused in the words of Go', () => {
  const FIELD = 'json: cannot unmarshal'
  test.each<[string, Value, string]>([
    ['core/v1.ConfigMap', { data: { a: 1 } }, `${FIELD} number into Go struct field ConfigMap.data of type string`],
    [
      'core/v1.ConfigMap',
      { data: ['a'] },
      `${FIELD} array into Go struct field ConfigMap.data of type map[string]string`,
    ],
    ['core/v1.Secret', { data: { a: 5 } }, `${FIELD} number into Go struct field Secret.data of type []uint8`],
    ['core/v1.Secret', { data: { a: 'plain text' } }, 'illegal base64 data at input byte 5'],
    ['core/v1.Secret', { data: { a: 'abcde' } }, 'illegal base64 data at input byte 4'],
    ['core/v1.Secret', { data: { a: 'MQ=' } }, 'illegal base64 data at input byte 3'],
    ['core/v1.Secret', { data: { a: 'MQ==x' } }, 'illegal base64 data at input byte 4'],
    ['core/v1.Pod', { metadata: 'x' }, `${FIELD} string into Go struct field Pod.metadata of type v1.ObjectMeta`],
    [
      'core/v1.Pod',
      { metadata: { uid: 7 } },
      `${FIELD} number into Go struct field ObjectMeta.metadata.uid of type types.UID`,
    ],
    [
      'core/v1.Pod',
      { spec: { containers: 'c' } },
      `${FIELD} string into Go struct field PodSpec.spec.containers of type []v1.Container`,
    ],
    [
      'core/v1.Pod',
      { spec: { containers: ['c'] } },
      `${FIELD} string into Go struct field PodSpec.spec.containers of type v1.Container`,
    ],
    [
      'core/v1.Pod',
      pod({ env: [{ value: 1 }] }),
      `${FIELD} number into Go struct field EnvVar.spec.containers.env.value of type string`,
    ],
    [
      'core/v1.Pod',
      pod({ livenessProbe: { httpGet: { port: true } } }),
      `${FIELD} bool into Go struct field HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32`,
    ],
    [
      'core/v1.Pod',
      pod({ ports: [{ protocol: 6 }] }),
      `${FIELD} number into Go struct field ContainerPort.spec.containers.ports.protocol of type v1.Protocol`,
    ],
    [
      'core/v1.Pod',
      pod({ resources: { limits: [] } }),
      `${FIELD} array into Go struct field ResourceRequirements.spec.containers.resources.limits of type v1.ResourceList`,
    ],
    [
      'core/v1.Pod',
      pod({ resources: { limits: { cpu: 'lots' } } }),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      'core/v1.Pod',
      pod({ resources: { limits: { cpu: true } } }),
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      'core/v1.Pod',
      { metadata: { creationTimestamp: 5 } },
      `${FIELD} number into Go struct field ObjectMeta.metadata.creationTimestamp of type string`,
    ],
    [
      'coordination/v1.Lease',
      { spec: { renewTime: '2020-01-01T00:00:00Z' } },
      'parsing time "2020-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    ],
    [
      'coordination/v1.Lease',
      { spec: { leaseDurationSeconds: 1.5 } },
      `${FIELD} number 1.5 into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32`,
    ],
    [
      'coordination/v1.Lease',
      { spec: { leaseDurationSeconds: new WholeFloat(1) } },
      `${FIELD} number 1.0 into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32`,
    ],
    [
      'coordination/v1.Lease',
      { spec: { leaseDurationSeconds: new WholeFloat(1000, '1e3') } },
      `${FIELD} number 1e3 into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32`,
    ],
    [
      'coordination/v1.Lease',
      { spec: { leaseDurationSeconds: 4294967296 } },
      `${FIELD} number 4294967296 into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32`,
    ],
    [
      'apiextensions/v1.CustomResourceValidation',
      { openAPIV3Schema: { items: { type: 1 } } },
      `${FIELD} number into Go struct field JSONSchemaProps.openAPIV3Schema.items.type of type string`,
    ],
    [
      'apiextensions/v1.CustomResourceValidation',
      { openAPIV3Schema: { additionalProperties: 1 } },
      'boolean or JSON schema expected',
    ],
  ])('%s %j', (type, value, message) => {
    expect(() => decodeTyped(table.byName(type), value)).toThrow(expect.objectContaining({ message }))
  })

  test('the first mismatch is reported, unless a value with a decoder of its own fails later', () => {
    expect(() => decode('Pod', { spec: 1, metadata: { name: 2 } })).toThrow('Pod.spec of type v1.PodSpec')
    expect(() => decode('Pod', { spec: 1, metadata: { creationTimestamp: 'x' } })).toThrow('parsing time')
  })

  test('schemas may nest only so deep', () => {
    let schema: ValueObject = {}
    for (let i = 0; i < 5000; i++) schema = { not: schema }
    expect(() => decodeTyped(table.byName('apiextensions/v1.JSONSchemaProps'), schema)).toThrow('exceeded max depth')
  })
})

describe('in steps', () => {
  const type = table.byName('core/v1.Pod')
  const containers = (count: number, ports: number): Value[] =>
    Array.from({ length: count }, (_, i) => ({
      name: `a${i}`,
      ports: [...Array(ports).keys()].map(port => ({ containerPort: port })),
    }))

  test.each([
    [3_000, 0],
    [2, 3_000],
    [100, 50],
  ])('%i items with %i items each', (count, ports) => {
    const { value } = decodeTyped(type, { spec: { containers: containers(count, ports) } })
    const work = decodeAgain(type, value)
    expect(work.next().done).toBe(false)
    expect(atOnce(work)).toEqual(value)
  })

  test('a short list takes one step', () => {
    expect(decodeAgain(type, { spec: { containers: containers(10, 10) } }).next().done).toBe(true)
  })
})
