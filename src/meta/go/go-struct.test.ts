import { describe, expect, it, test } from 'vitest'
import { type Value, WholeFloat } from '../values/value.js'
import { BOOL, decodeStruct, type GoStruct, INT64, jsonTypeOf, STRING, STRING_MAP, STRINGS, TIME } from './go-struct.js'

const PART: GoStruct = {
  kind: 'struct',
  name: 'v1.Part',
  fields: { name: { type: STRING, always: true }, on: { type: BOOL, pointer: true } },
}
const SPEC: GoStruct = {
  kind: 'struct',
  name: 'v1.ThingSpec',
  fields: {
    parts: { type: { kind: 'list', of: PART } },
    size: { type: { kind: 'int32' } },
    count: { type: INT64, pointer: true },
    tags: { type: STRINGS },
    labels: { type: STRING_MAP },
    since: { type: TIME },
    any: { type: { kind: 'any' } },
  },
}
const THING: GoStruct = {
  kind: 'struct',
  name: 'v1.Thing',
  fields: { kind: { type: STRING }, spec: { type: SPEC }, id: { type: { kind: 'string', name: 'types.UID' } } },
}

describe('what is read', () => {
  test.each<[string, Value, Value]>([
    ['fields come in their order', { id: 'x', kind: 'Thing' }, { kind: 'Thing', id: 'x' }],
    ['empty fields are left out', { kind: '', spec: { size: 0, tags: [], labels: {}, since: null } }, {}],
    [
      'pointers keep what is empty',
      { spec: { count: 0, parts: [{ on: false }] } },
      { spec: { parts: [{ name: '', on: false }], count: 0 } },
    ],
    ['null is nothing', { kind: null, spec: { count: null } }, {}],
    [
      'null in a list or map is the empty value',
      { spec: { tags: [null], labels: { a: null }, parts: [null] } },
      { spec: { parts: [{ name: '' }], tags: [''], labels: { a: '' } } },
    ],
    [
      'times are put in UTC',
      { spec: { since: '2024-01-01T01:00:00.5+01:00' } },
      { spec: { since: '2024-01-01T00:00:00Z' } },
    ],
    ['a whole float is an integer', { spec: { size: new WholeFloat(3) } }, { spec: { size: 3 } }],
    ['large integers stay exact', { spec: { count: 9007199254740993n } }, { spec: { count: 9007199254740993n } }],
    ['what is free stays free', { spec: { any: { x: [1] } } }, { spec: { any: { x: [1] } } }],
  ])('%s', (_, value, expected) => {
    const decoded = decodeStruct(THING, value)
    expect(decoded.ok && decoded.value.value).toEqual(expected)
  })

  it('names unknown members, in the order of the document or sorted', () => {
    const value = { z: 1, spec: { parts: [{ x: 1 }], constructor: 1 }, a: 1 }
    const inOrder = decodeStruct(THING, value)
    const sorted = decodeStruct(THING, value, { sorted: true, path: 'root' })
    expect(inOrder.ok && inOrder.value.unknown).toEqual(['z', 'spec.parts[0].x', 'spec.constructor', 'a'])
    expect(sorted.ok && sorted.value.unknown).toEqual([
      'root.a',
      'root.spec.constructor',
      'root.spec.parts[0].x',
      'root.z',
    ])
  })
})

describe('texts and numbers with a meaning', () => {
  const struct: GoStruct = {
    kind: 'struct',
    name: 'v1.Probe',
    fields: {
      port: { type: { kind: 'intOrString' }, via: 'Handler' },
      cpu: { type: { kind: 'quantity' } },
      every: { type: { kind: 'duration' } },
      data: { type: { kind: 'map', of: { kind: 'bytes' } } },
      ratio: { type: { kind: 'float64' } },
      at: { type: { kind: 'microTime' }, pointer: true },
    },
  }

  test.each<[Value, Value]>([
    [{ port: 'http' }, { port: 'http' }],
    [{ port: 80 }, { port: 80 }],
    [{ cpu: 0.5 }, { cpu: '500m' }],
    [{ cpu: '1024Ki' }, { cpu: '1Mi' }],
    [{ every: '90s' }, { every: '1m30s' }],
    [{ data: { a: 'YQ=\n=' } }, { data: { a: 'YQ==' } }],
    [{ ratio: 1.5 }, { ratio: 1.5 }],
    [{ at: '2024-01-01T00:00:00.000001Z' }, { at: '2024-01-01T00:00:00.000001Z' }],
  ])('%j is kept as %j', (value, expected) => {
    const decoded = decodeStruct(struct, value)
    expect(decoded.ok && decoded.value.value).toEqual(expected)
  })

  test.each<[Value, string]>([
    [{ port: true }, 'json: cannot unmarshal bool into Go struct field Probe.Handler.port of type int32'],
    [{ cpu: true }, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
    [{ every: 'soon' }, 'time: invalid duration "soon"'],
    [{ data: { a: '#' } }, 'illegal base64 data at input byte 0'],
    [{ data: { a: 5 } }, 'json: cannot unmarshal number into Go struct field Probe.data of type []uint8'],
    [{ ratio: 'x' }, 'json: cannot unmarshal string into Go struct field Probe.ratio of type float64'],
  ])('%j does not fit', (value, error) => {
    expect(decodeStruct(struct, value)).toEqual({ ok: false, error })
  })
})

describe('what does not fit', () => {
  test.each<[Value, string]>([
    ['text', 'json: cannot unmarshal string into Go value of type v1.Thing'],
    [{ kind: 5 }, 'json: cannot unmarshal number into Go struct field Thing.kind of type string'],
    [{ id: [] }, 'json: cannot unmarshal array into Go struct field Thing.id of type types.UID'],
    [{ spec: 'x' }, 'json: cannot unmarshal string into Go struct field Thing.spec of type v1.ThingSpec'],
    [
      { spec: { parts: {} } },
      'json: cannot unmarshal object into Go struct field ThingSpec.spec.parts of type []v1.Part',
    ],
    [
      { spec: { parts: ['x'] } },
      'json: cannot unmarshal string into Go struct field ThingSpec.spec.parts of type v1.Part',
    ],
    [
      { spec: { parts: [{ on: 'x' }] } },
      'json: cannot unmarshal string into Go struct field Part.spec.parts.on of type bool',
    ],
    [
      { spec: { labels: [] } },
      'json: cannot unmarshal array into Go struct field ThingSpec.spec.labels of type map[string]string',
    ],
    [
      { spec: { labels: { a: true } } },
      'json: cannot unmarshal bool into Go struct field ThingSpec.spec.labels of type string',
    ],
    [
      { spec: { size: 1.5 } },
      'json: cannot unmarshal number 1.5 into Go struct field ThingSpec.spec.size of type int32',
    ],
    [
      { spec: { size: 4294967296 } },
      'json: cannot unmarshal number 4294967296 into Go struct field ThingSpec.spec.size of type int32',
    ],
    [{ spec: { since: 5 } }, 'json: cannot unmarshal number into Go struct field ThingSpec.spec.since of type string'],
    [{ spec: { since: 'x' } }, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
    [{ kind: 1, id: 2 }, 'json: cannot unmarshal number into Go struct field Thing.kind of type string'],
  ])('%j', (value, error) => {
    expect(decodeStruct(THING, value)).toEqual({ ok: false, error })
  })

  it('names JSON types as Go does', () => {
    expect([null, true, 'x', 1, 1n, new WholeFloat(1), [], {}].map(jsonTypeOf)).toEqual([
      'null',
      'bool',
      'string',
      'number',
      'number',
      'number',
      'array',
      'object',
    ])
  })
})
