// Numbers at the edges of what JSON, YAML, Go and JavaScript can hold, and CBOR and protobuf that is nested, cut off or of the wrong
// type: each is answered, and none by an error of the server.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HostileServer, startHostileServer } from './hostile-server.js'

let server: HostileServer
beforeAll(async () => {
  server = await startHostileServer('--feature-gates=CBORServingAndStorage=true')
})
afterAll(() => server?.stop())

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const QUOTAS = '/api/v1/namespaces/default/resourcequotas'

/** Each is put where a number belongs. */
const NUMBERS = [
  ...'0 -0 -0.0 1.0 1.5 1e0 1E5 0.1e1 5e-324 1e-400 1e308 1e309 -1e400 1e99999999999'.split(' '),
  ...'2147483648 -2147483649 9007199254740993 9223372036854775807 9223372036854775808 -9223372036854775809'.split(' '),
  ...'18446744073709551616 01 +1 .5 1. 1e - NaN Infinity 0x10 1_000 .inf 0o17 "1e400" "-0"'.split(' '),
  `1${'0'.repeat(5_000)}`,
  `0.${'0'.repeat(5_000)}1`,
  `1e${'9'.repeat(5_000)}`,
]

test.each(NUMBERS.map(number => [number.slice(0, 30), number]))('the number %s', async (_, number) => {
  const deployment = `{"metadata":{"generateName":"a"},"spec":{"replicas":${number},"strategy":{"rollingUpdate":{"maxSurge":${number}}}}}`
  const quota = `{"metadata":{"generateName":"a","generation":${number}},"spec":{"hard":{"cpu":${number}}}}`
  for (const [path, body] of [
    [DEPLOYMENTS, deployment],
    [QUOTAS, quota],
  ] as const) {
    for (const type of ['application/json', 'application/yaml']) {
      const { status } = await server.send('POST', path, body, { 'content-type': type })
      expect([201, 400, 422]).toContain(status)
    }
  }
  const patch = await server.send('PATCH', `${QUOTAS}/a`, quota, { 'content-type': 'application/merge-patch+json' })
  expect([400, 404, 422]).toContain(patch.status)
  const options = `{"gracePeriodSeconds":${number},"preconditions":{"resourceVersion":${number}}}`
  // Node's client frames the body of a DELETE only if it has a length.
  const headers = { 'content-type': 'application/json', 'content-length': String(options.length) }
  expect([400, 404]).toContain((await server.send('DELETE', `${QUOTAS}/a`, options, headers)).status)
})

const bytes = (...parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)))
const repeated = (hex: string, count: number): Buffer => Buffer.alloc(count * (hex.length / 2), Buffer.from(hex, 'hex'))

/** CBOR of `{"apiVersion": "v1", "data": …}`. */
const cbor = (data: string | Buffer): Buffer =>
  bytes('d9d9f7a26a', Buffer.from('apiVersion'), '62763164', Buffer.from('data'), data)

test.each<[string, Buffer]>([
  ['lists', cbor(repeated('81', 2_000_000))],
  ['lists without a length', cbor(repeated('9f', 2_000_000))],
  ['maps', cbor(repeated('a16161', 700_000))],
  ['tags', cbor(repeated('c0', 2_000_000))],
  ['a list of 2^64 items', cbor('9bffffffffffffffff')],
  ['a map of 2^64 members', cbor('bbffffffffffffffff')],
  ['a text of 2^64 bytes', cbor('a161617bffffffffffffffff')],
  ['a text in a million pieces', cbor(bytes('a161617f', repeated('6161', 1_000_000), '00'))],
  ['a text in pieces that are texts in pieces', cbor('a161617f7f6161ffff')],
  ['an end without a beginning', cbor('a16161ff')],
  ['a map with a key only', cbor('bf6161ff')],
  ['a number as key', cbor('a1016161')],
  ['a large number', cbor(bytes('a16161c25a002dc6c0', repeated('ff', 3_000_000)))],
  ['NaN', cbor('a16161f97e00')],
  ['a reserved length', cbor('a161611c')],
  ['bytes after the value', bytes(cbor('a0'), '00')],
])('CBOR with %s is refused', async (_, body) => {
  for (const [method, path] of [
    ['POST', CONFIG_MAPS],
    ['PUT', `${CONFIG_MAPS}/a`],
  ] as const) {
    const { status } = await server.send(method, path, body, { 'content-type': 'application/cbor' })
    expect([400, 413, 422]).toContain(status)
  }
})

/** A field of protobuf that holds bytes; they are shorter than 128. */
const field = (number: number, value: Buffer): Buffer => bytes(Buffer.from([(number << 3) | 2, value.length]), value)
const TYPE = field(1, bytes(field(1, Buffer.from('v1')), field(2, Buffer.from('ConfigMap'))))

/** Protobuf of a ConfigMap, whose length is written in five bytes. */
function protobuf(raw: Buffer): Buffer {
  const { length } = raw
  const size = [0, 7, 14, 21].map(bits => ((length >>> bits) & 0x7f) | 0x80)
  return bytes(Buffer.from('k8s\0'), TYPE, Buffer.from([0x12, ...size, 0]), raw)
}

test.each<[string, Buffer]>([
  ['a number in the place of metadata', protobuf(bytes('0800'))],
  ['a group', protobuf(bytes('0b0c'))],
  ['nested groups', protobuf(repeated('0b', 2_000_000))],
  ['an end without a group', protobuf(bytes('0c'))],
  ['a reserved type', protobuf(bytes('0e'))],
  ['the field 0', protobuf(bytes('0200'))],
  ['a number without an end', protobuf(repeated('ff', 1_000_000))],
  ['a length beyond the end', protobuf(bytes('0affffffff0f'))],
  ['a negative length', protobuf(bytes('0affffffffffffffffff01'))],
  ['no type', Buffer.from('k8s\0')],
  ['half a mark', Buffer.from('k8s')],
])('protobuf with %s is refused', async (_, body) => {
  for (const accept of ['application/json', 'application/vnd.kubernetes.protobuf']) {
    const headers = { 'content-type': 'application/vnd.kubernetes.protobuf', accept }
    expect([400, 422]).toContain((await server.send('POST', CONFIG_MAPS, body, headers)).status)
  }
})
