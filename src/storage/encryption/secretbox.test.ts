import { expect, test } from 'vitest'
import { poly1305 } from './poly1305.js'
import { openBox, sealBox } from './secretbox.js'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

// The example of NaCl's documentation.
const KEY = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389')
const NONCE = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37')
const MESSAGE = hex(`be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c6129
  6cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c
  60902e52f0a089bc76897040e082f937763848645e0705`)
const BOX = hex(`f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a
  c0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb373
  2bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5`)

test('seals and opens the box of NaCl', () => {
  expect(sealBox(KEY, NONCE, MESSAGE)).toEqual(BOX)
  expect(openBox(KEY, NONCE, BOX)).toEqual(MESSAGE)
})

test('a box that was changed is not opened', () => {
  for (const at of [0, 15, 16, BOX.length - 1]) {
    const changed = Buffer.from(BOX)
    changed[at]! ^= 1
    expect(openBox(KEY, NONCE, changed)).toBeUndefined()
  }
})

test.each([0, 1, 15, 16, 17, 31, 32, 63, 64, 65, 1000])('a message of %i bytes comes back', length => {
  const message = Buffer.alloc(length, 0xff)
  expect(openBox(KEY, NONCE, sealBox(KEY, NONCE, message))).toEqual(message)
})

/** RFC 8439, 2.5.2 and appendix A.3: sums at the edge of the prime. */
test.each([
  [
    '85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b',
    Buffer.from('Cryptographic Forum Research Group').toString('hex'),
    'a8061dc1305136c6c22b8baf0c0127a9',
  ],
  ['02'.padEnd(64, '0'), 'ff'.repeat(16), '03'.padEnd(32, '0')],
  [`02${'00'.repeat(15)}${'ff'.repeat(16)}`, `02${'00'.repeat(15)}`, '03'.padEnd(32, '0')],
  ['01'.padEnd(64, '0'), `${'ff'.repeat(16)}f0${'ff'.repeat(15)}11${'00'.repeat(15)}`, '05'.padEnd(32, '0')],
  ['01'.padEnd(64, '0'), `${'ff'.repeat(16)}fb${'fe'.repeat(15)}${'01'.repeat(16)}`, '00'.repeat(16)],
  ['02'.padEnd(64, '0'), `fd${'ff'.repeat(15)}`, `fa${'ff'.repeat(15)}`],
])('the tag under %s', (key, message, tag) => {
  expect(poly1305(hex(key), hex(message)).toString('hex')).toBe(tag)
})
