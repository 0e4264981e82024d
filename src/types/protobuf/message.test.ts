import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { decodeTyped } from '../go/decode.js'
import { membersOf, typedValue } from '../go/typed-values.suite.js'
import { builtinTypes } from '../type-table.js'
import {
  decodeObject,
  decodeWatchFrames,
  encodeObject,
  encodeWatchFrame,
  openEnvelope,
  sealEnvelope,
} from './envelope.js'
import { decodeMessage, encodeMessage } from './message.js'

const table = builtinTypes()

/** Bodies as kube-apiserver wrote and read them. */
const RECORDED = {
  'a Status with nothing but a reason':
    'azhzAAoMCgJ2MRIGU3RhdHVzEjAKBgoAEgAaABIHRmFpbHVyZRoMVW5hdXRob3JpemVkIgxVbmF1dGhvcml6ZWQwkQMaACIA',
  'a Status with details':
    'azhzAAoMCgJ2MRIGU3RhdHVzElUKBgoAEgAaABIHRmFpbHVyZRobY29uZmlnbWFwcyAibm9uZSIgbm90IGZvdW5kIghOb3RGb3VuZCoYCgRub25lEgAaCmNvbmZpZ21hcHMoADIAMJQDGgAiAA==',
  'a list of resources, whose verbs are a message':
    'azhzAAoVCgJ2MRIPQVBJUmVzb3VyY2VMaXN0EqABCipwcm90b2J1Zi1jdXN0b20ubmVnb3RpYXRpb24uZXhhbXBsZS5jb20vdjEScgoHd2lkZ2V0cxABGgZXaWRnZXQiQwoGZGVsZXRlChBkZWxldGVjb2xsZWN0aW9uCgNnZXQKBGxpc3QKBXBhdGNoCgZjcmVhdGUKBnVwZGF0ZQoFd2F0Y2gyBndpZGdldEIASgBSDElXVk0zdlpLL1NRPRoAIgA=',
  'a group':
    'azhzAAoOCgJ2MRIIQVBJR3JvdXASjQEKJ3Byb3RvYnVmLWN1c3RvbS5uZWdvdGlhdGlvbi5leGFtcGxlLmNvbRIwCipwcm90b2J1Zi1jdXN0b20ubmVnb3RpYXRpb24uZXhhbXBsZS5jb20vdjESAnYxGjAKKnByb3RvYnVmLWN1c3RvbS5uZWdvdGlhdGlvbi5leGFtcGxlLmNvbS92MRICdjEaACIA',
}

const decodeBody = (bytes: Uint8Array): ValueObject => {
  const envelope = openEnvelope(bytes)
  const type = table.ofKind(envelope.apiVersion, envelope.kind)!
  return decodeTyped(type, decodeObject(table, envelope)).value
}

describe('bodies of the reference server', () => {
  test.each(Object.entries(RECORDED))('%s is written byte for byte', (_name, base64) => {
    const bytes = Buffer.from(base64, 'base64')
    expect(encodeObject(table, decodeBody(bytes))?.toString('base64')).toBe(base64)
  })

  test('a ConfigMap as a client sends it is read', () => {
    const body = Buffer.from(
      'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEiYKEwoRbmVnb3RpYXRpb24tcHJvdG8SBgoBYRIBMRIHCgFiEgLDqRoAIgA=',
      'base64',
    )
    expect(decodeBody(body)).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'negotiation-proto' },
      data: { a: '1', b: 'é' },
    })
  })

  test('options of a delete are read', () => {
    const body = Buffer.from('azhzAAoTCgJ2MRINRGVsZXRlT3B0aW9ucxIFKgNBbGwaACIA', 'base64')
    expect(decodeBody(body)).toEqual({ kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] })
  })

  test.each([
    ['apps/v1', 'DeleteOptions'],
    ['stable.example.com/v1', 'DeleteOptions'],
    ['meta.k8s.io/v1', 'CreateOptions'],
    ['batch/v1', 'UpdateOptions'],
    ['batch/v1', 'PatchOptions'],
    ['apps/v1', 'GetOptions'],
    ['apps/v1', 'ListOptions'],
    ['apps/v1', 'Status'],
  ])('%s %s is read, since every group has it', (apiVersion, kind) => {
    const envelope = openEnvelope(sealEnvelope(apiVersion, kind, new Uint8Array()))
    expect(decodeObject(table, envelope)).toEqual({ kind, apiVersion })
  })

  test('other kinds of a group that has none by that name are refused', () => {
    const envelope = openEnvelope(sealEnvelope('apps/v1', 'ConfigMap', new Uint8Array()))
    expect(() => decodeObject(table, envelope)).toThrow('no kind "ConfigMap" is registered for version "apps/v1"')
  })

  test('an envelope that names no kind takes the one that is expected', () => {
    const body = openEnvelope(Buffer.from('azhzAAoECgASABINCgMKAWESBgoBaxIBdhoAIgA=', 'base64'))
    expect(decodeObject(table, body, { apiVersion: 'v1', kind: 'ConfigMap' })).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a' },
      data: { k: 'v' },
    })
  })

  test('an unknown field is ignored', () => {
    const body = Buffer.from('azhzAAoPCgJ2MRIJQ29uZmlnTWFwEg8KAwoBYZoGB3Vua25vd24aACIA', 'base64')
    expect(decodeBody(body)).toEqual({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } })
  })
})

describe('bytes that cannot be read', () => {
  test.each([
    ['', 'empty data'],
    ['k8s\0', 'empty body'],
    ['k8s', 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]'],
    ['\n\x03\n\x01a', 'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]'],
    ['k8s\0\xff', 'unexpected EOF'],
    ['k8s\0\x0a\x7f', 'unexpected EOF'],
    ['k8s\0\x08\x01', 'proto: wrong wireType = 0 for field TypeMeta'],
    ['k8s\0\x00', 'proto: Unknown: illegal tag 0 (wire type 0)'],
    ['k8s\0\x0c', 'proto: Unknown: wiretype end group for non-group'],
    ['k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff', 'proto: integer overflow'],
    ['k8s\0\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01', 'proto: negative length found during unmarshaling'],
  ])('%j: %s', (text, message) => {
    expect(() => openEnvelope(Buffer.from(text, 'latin1'))).toThrow(message)
  })

  test('a message that ends too early says so', () => {
    expect(() => decodeMessage(table.byName('core/v1.ConfigMap'), Buffer.from([0xff]))).toThrow('unexpected EOF')
  })

  test('a field of another wire type is named', () => {
    expect(() => decodeMessage(table.byName('core/v1.ConfigMap'), Buffer.from([0x08, 1]))).toThrow(
      'proto: wrong wireType = 0 for field Metadata',
    )
  })

  test('any bytes give a value or a clean error, quickly', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom('core/v1.Pod', 'core/v1.Node'), (bytes, type) => {
        try {
          decodeMessage(table.byName(type), bytes)
        } catch (error) {
          expect((error as Error).name).toBe('ProtobufError')
        }
      }),
    )
  })

  test('messages within messages are bounded', () => {
    // A schema whose `not` is a schema whose `not` is …
    let schema: Buffer = Buffer.alloc(0)
    for (let i = 0; i < 2000; i++) {
      const length = schema.length
      const size = length < 128 ? [length] : length < 16384 ? [(length & 127) | 128, length >> 7] : undefined
      if (size === undefined) break
      schema = Buffer.concat([Buffer.from([0xe2, 0x01, ...size]), schema])
    }
    expect(() => decodeMessage(table.byName('apiextensions/v1.JSONSchemaProps'), schema)).toThrow('nest too deep')
  })
})

describe('every type comes back as it was', () => {
  // Lists hold nothing that their items do not show; the object of a watch event is an envelope.
  const kinds = [...new Set(table.kinds().values())].filter(name => !/List$|WatchEvent$/.test(name))
  test.each(kinds)('%s', typeName => {
    fc.assert(
      fc.property(typedValue(table.byName(typeName)), plain => {
        const { value, unknown } = decodeTyped(table.byName(typeName), plain)
        expect(unknown).toEqual([])
        const bytes = encodeMessage(table.byName(typeName), value)
        const back = decodeTyped(table.byName(typeName), decodeMessage(table.byName(typeName), bytes)).value
        expect(back).toEqual(membersOf(value))
      }),
      { numRuns: 5 },
    )
  })
})

test('numbers in a list may come packed', () => {
  const packed = Buffer.from([0x22, 3, 1, 2, 0x7f])
  expect(decodeMessage(table.byName('core/v1.PodSecurityContext'), packed)).toEqual({ supplementalGroups: [1, 2, 127] })
})

test('watch events travel as frames', () => {
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' } }
  const sealed = encodeObject(table, object)!
  const stream = Buffer.concat([encodeWatchFrame('ADDED', sealed), encodeWatchFrame('DELETED', sealed)])
  const { events, rest } = decodeWatchFrames(stream.subarray(0, stream.length - 1))
  expect(events.map(event => event.type)).toEqual(['ADDED'])
  expect(decodeBody(events[0]!.object)).toEqual(object)
  expect(decodeWatchFrames(Buffer.concat([rest, stream.subarray(-1)])).events.map(event => event.type)).toEqual([
    'DELETED',
  ])
})

test('a kind without a type has no protobuf', () => {
  expect(encodeObject(table, { kind: 'Widget', apiVersion: 'example.com/v1' })).toBeUndefined()
})
