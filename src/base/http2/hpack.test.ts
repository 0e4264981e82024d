import { describe, expect, test } from 'vitest'
import { CompressionError, createHpackDecoder } from './hpack-decoder.js'
import { encodeResponseHeaders } from './hpack-encoder.js'
import { decodeHuffman } from './huffman.js'
import { createRequestEncoder } from './request-encoder.js'

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex')

// RFC 7541, appendix C.3 and C.4: three requests on one connection, plain and with Huffman codes.
const REQUESTS = [
  [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com'],
  [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'www.example.com', 'cache-control', 'no-cache'],
  [
    ':method',
    'GET',
    ':scheme',
    'https',
    ':path',
    '/index.html',
    ':authority',
    'www.example.com',
    'custom-key',
    'custom-value',
  ],
]

describe('blocks of headers', () => {
  test.each([
    [
      'plain',
      [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ],
    ],
    [
      'with Huffman codes',
      [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ],
    ],
  ])('the examples of the RFC, %s', (_name, blocks) => {
    const decoder = createHpackDecoder(1000)
    expect(blocks.map(block => decoder.decode(bytes(block)))).toEqual(REQUESTS)
  })

  test.each([
    ['an entry that is not there', 'be'],
    ['entry 0', '80'],
    ['a text that is longer than the block', '400a 6375'],
    ['a number that is too large', 'ffff ffff ff7f'],
    ['a table that is too large', '3fff ff7f'],
    ['a new size of the table within a block', '82 20'],
    ['a Huffman code whose end is not filled with ones', '4081 00 00'],
  ])('%s is an error', (_name, block) => {
    expect(() => createHpackDecoder(1000).decode(bytes(block))).toThrow(CompressionError)
  })

  test('too many fields are dropped, and the table is still right', () => {
    const decoder = createHpackDecoder(100)
    const long = Buffer.from('x'.repeat(90))
    const block = Buffer.concat([bytes('4001 61'), Buffer.from([long.length]), long])
    expect(decoder.decode(Buffer.concat([block, block]))).toBeUndefined()
    expect(createHpackDecoder(10_000).decode(Buffer.concat([block, bytes('be')]))).toHaveLength(4)
  })

  test('old entries leave a full table', () => {
    const decoder = createHpackDecoder(2 ** 20)
    const entry = (name: string): Buffer =>
      Buffer.concat([bytes('4001'), Buffer.from(name), bytes('7f81 0e'), Buffer.from('v'.repeat(1920))])
    for (const name of 'abc') decoder.decode(entry(name))
    expect(decoder.decode(bytes('be bf'))?.filter(text => text.length === 1)).toEqual(['c', 'b'])
    expect(() => decoder.decode(bytes('c0'))).toThrow(CompressionError)
  })
})

test('every octet has a Huffman code', () => {
  // `a` is 00011, `é` in latin1 (0xe9) has 22 bits.
  expect(decodeHuffman(bytes('1f'), 0, 1)).toBe('a')
  expect(decodeHuffman(bytes('ffff ffff'), 0, 4)).toBeUndefined()
})

test('fields that are sent again a byte each do not become more than may be used', () => {
  const decoder = createHpackDecoder(1_000_000, 100)
  expect(decoder.decode(Buffer.alloc(100, 0x82))).toHaveLength(200)
  expect(decoder.decode(Buffer.alloc(10_000, 0x82))).toHaveLength(202)
  expect(decoder.decode(Buffer.alloc(100, 0x84))).toHaveLength(200)
})

test('the headers of a response are decoded as they were given', () => {
  const headers = {
    'content-type': 'application/json',
    'audit-id': 'x',
    Warning: ['a', 'b\nc'],
    long: 'v'.repeat(5000),
  }
  const fields = ['content-type', 'application/json', 'audit-id', 'x', 'warning', 'a', 'warning', 'b c']
  for (const status of [200, 201, 200]) {
    const block = Buffer.from(encodeResponseHeaders(status, headers, true))
    expect(createHpackDecoder(10_000).decode(block)).toEqual([
      ':status',
      String(status),
      ...fields,
      'long',
      'v'.repeat(5000),
    ])
  }
})

describe('the headers of the requests of a connection', () => {
  const request = (timeout: number) => [':method', 'POST', ':path', '/a', 'te', 'trailers', 'timeout', `${timeout}m`]

  test('are decoded as they were given, also when the table is full', () => {
    const [encoder, decoder] = [createRequestEncoder(), createHpackDecoder(10_000)]
    for (let i = 0; i < 300; i++) {
      const fields = request(i % 150)
      expect(decoder.decode(encoder.encode(fields))).toEqual(fields)
    }
  })

  test('are a byte for each field once they were sent', () => {
    const encoder = createRequestEncoder()
    const fields = request(1)
    const first = encoder.encode(fields).length
    expect(first).toBeGreaterThan(20)
    expect(encoder.encode(fields)).toHaveLength(4)
    encoder.encode(request(2))
    expect(encoder.encode(fields)).toHaveLength(4)
  })

  test('enter no table when the other side has none', () => {
    const [encoder, decoder] = [createRequestEncoder(), createHpackDecoder(10_000)]
    const fields = request(1)
    expect(decoder.decode(encoder.encode(fields))).toEqual(fields)
    encoder.resize(0)
    for (let i = 0; i < 3; i++) {
      const block = encoder.encode(fields)
      expect(block[0] === 0x20).toBe(i === 0)
      expect(decoder.decode(block)).toEqual(fields)
    }
  })
})
