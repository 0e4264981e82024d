import { describe, expect, it } from 'vitest'
import { decodeCborForType } from '../../codec/cbor/decode.js'
import { builtinTypes } from '../type-table.js'
import { decodeTyped, type TypedObject } from './decode.js'

const table = builtinTypes()

/** CBOR as it is written down in hexadecimal: `'name'` stands for a byte string, `"name"` for a text. */
const bytes = (notation: string): Buffer => {
  const hex = notation.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, plain?: string, text?: string) => {
    const content = Buffer.from(plain ?? text ?? '')
    return Buffer.from([(plain === undefined ? 0x60 : 0x40) + content.length, ...content]).toString('hex')
  })
  return Buffer.from(hex.replaceAll(' ', ''), 'hex')
}

const decode = (type: string, notation: string): TypedObject => {
  const { value, cbor } = decodeCborForType(bytes(notation))
  return decodeTyped(table.byName(type), value, { cbor })
}

const CONFIG_MAP = 'core/v1.ConfigMap'

describe('a typed object from CBOR', () => {
  it('takes texts and byte strings for strings', () => {
    expect(decode(CONFIG_MAP, `a1 "data" a2 'a' "1" "b" '2'`).value['data']).toEqual({ a: '1', b: '2' })
  })

  it('takes base64 in byte strings, or bytes that ask for any encoding', () => {
    const { value } = decode(
      CONFIG_MAP,
      `a1 'binaryData' a4 'a' 'AAEC' 'b' d7 43000102 'c' d5 43000102 'd' 83 00 01 02`,
    )
    expect(value['binaryData']).toEqual({ a: 'AAEC', b: 'AAEC', c: 'AAEC', d: 'AAEC' })
  })

  it.each([
    [CONFIG_MAP, `a1 'data' a1 'a' 05`, 'positive integer into Go struct field v1.ConfigMap.data of type string'],
    [CONFIG_MAP, `a1 'data' a1 'a' f5`, 'primitives into Go struct field v1.ConfigMap.data of type string'],
    [CONFIG_MAP, `a1 'data' a1 05 'a'`, 'positive integer into Go struct field v1.ConfigMap.data of type string'],
    [CONFIG_MAP, `a1 'data' 'a'`, 'byte string into Go struct field v1.ConfigMap.data of type map[string]string'],
    [CONFIG_MAP, `a1 'data' "a"`, 'UTF-8 text string into Go struct field v1.ConfigMap.data of type map[string]string'],
    [CONFIG_MAP, `a1 'immutable' 20`, 'negative integer into Go struct field v1.ConfigMap.immutable of type bool'],
    [
      CONFIG_MAP,
      `a1 'binaryData' a1 'b' "AAEC"`,
      'UTF-8 text string into Go struct field v1.ConfigMap.binaryData of type []uint8',
    ],
    [
      CONFIG_MAP,
      `a1 'binaryData' a1 'b' 81 190100`,
      'positive integer into Go struct field v1.ConfigMap.binaryData of type uint8 (256 overflows uint8)',
    ],
    [
      CONFIG_MAP,
      `a1 'metadata' 80`,
      'array into Go struct field v1.ConfigMap.metadata of type v1.ObjectMeta (cannot decode CBOR array to struct without toarray option)',
    ],
    [CONFIG_MAP, `a1 'metadata' a1 'name' a0`, 'map into Go struct field v1.ConfigMap.metadata of type string'],
    [
      CONFIG_MAP,
      `a1 'metadata' a1 'creationTimestamp' 01`,
      'positive integer into Go struct field v1.ConfigMap.metadata of type string',
    ],
    [
      CONFIG_MAP,
      `a1 'metadata' a1 f5 01`,
      'primitives into Go struct field v1.ConfigMap.metadata of type string (map key is of type primitives and cannot be used to match struct field name)',
    ],
    [
      'apps/v1.Deployment',
      `a1 'spec' a1 'replicas' 1affffffff`,
      'positive integer into Go struct field v1.Deployment.spec of type int32 (4294967295 overflows int32)',
    ],
    [
      'apps/v1.Deployment',
      `a1 'spec' a1 'replicas' 3bffffffffffffffff`,
      "negative integer into Go struct field v1.Deployment.spec of type int32 (-18446744073709551616 overflows Go's int64)",
    ],
    [
      'apps/v1.Deployment',
      `a1 'spec' a1 'replicas' f93c00`,
      'primitives into Go struct field v1.Deployment.spec of type int32',
    ],
    [
      'core/v1.Pod',
      `a1 'spec' a1 'containers' 82 a1 'name' 01 05`,
      'positive integer into Go struct field v1.Pod.spec of type string',
    ],
    [
      'core/v1.ResourceQuota',
      `a1 'spec' a1 'hard' a1 'pods' 05`,
      'positive integer into Go struct field v1.ResourceQuota.spec of type string',
    ],
    [
      'core/v1.Service',
      `a1 'spec' a1 'ports' 81 a1 'targetPort' f5`,
      'primitives into Go struct field v1.Service.spec of type int32',
    ],
  ])('%s %s', (type, notation, message) => {
    expect(() => decode(type, notation)).toThrow(
      expect.objectContaining({ message: `cbor: cannot unmarshal ${message}` }),
    )
  })

  it('tells of bytes that are no base64 without their place', () => {
    const message = 'cbor: failed to decode base64 from byte string: illegal base64 data at input byte 0'
    expect(() => decode(CONFIG_MAP, `a1 'binaryData' a1 'b' 43000102`)).toThrow(expect.objectContaining({ message }))
  })

  it('tells the first fault, whatever it is', () => {
    const notation = `a2 'data' a1 'a' 05 'metadata' a1 'creationTimestamp' 'never'`
    expect(() => decode(CONFIG_MAP, notation)).toThrow('v1.ConfigMap.data of type string')
  })

  it.each([
    ['by its place', `a2 'metadata' a0 'unknown' 01`, 1],
    ['by its place among keys that look like numbers', `a3 'metadata' a0 '7' 01 'unknown' 01`, 1],
    ['that is an integer', `a2 'metadata' a0 05 01`, 1],
    ['of the object before those within', `a3 'metadata' a1 'x' 01 'data' a0 'unknown' 01`, 2],
    ['within, the first one', `a1 'metadata' a3 'name' 'a' 'x' 01 'y' 01`, 1],
  ])('tells of one unknown field, %s', (_, notation, index) => {
    expect(decode(CONFIG_MAP, notation).strict).toEqual([`cbor: found unknown field at map element index ${index}`])
  })
})
