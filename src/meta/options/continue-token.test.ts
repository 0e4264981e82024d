import { describe, expect, it, test } from 'vitest'
import { continueExpired, decodeContinue, encodeContinue, listExpired, readContinue } from './continue-token.js'

const base64 = (text: string): string => Buffer.from(text).toString('base64url')

describe('a token', () => {
  test.each([
    { revision: 5, startAfter: 'a' },
    { revision: -1, startAfter: 'default/a' },
    { revision: Number.MAX_SAFE_INTEGER, startAfter: 'ä&b' },
  ])('$startAfter goes round', token => {
    expect(decodeContinue(encodeContinue(token))).toEqual({ ok: true, value: token })
  })

  it('is JSON in base64 without padding', () => {
    const text = encodeContinue({ revision: 5, startAfter: 'a' })
    expect(text).not.toMatch(/[=+/]/)
    expect(Buffer.from(text, 'base64url').toString()).toBe('{"v":"meta.k8s.io/v1","rv":5,"start":"a\\u0000"}')
  })

  it('of another server may begin with a slash', () => {
    expect(decodeContinue(base64('{"v":"meta.k8s.io/v1","rv":5,"start":"/a"}'))).toEqual({
      ok: true,
      value: { revision: 5, startAfter: 'a' },
    })
  })

  test.each([
    ['nonsense', ": invalid character '\\u009e' looking for beginning of value"],
    [' ', ': illegal base64 data at input byte 0'],
    ['abc=', ': illegal base64 data at input byte 3'],
    ['a', ': illegal base64 data at input byte 0'],
    [base64('text'), ': unexpected end of JSON input'],
    [base64('{}'), ': server does not recognize this encoded version '],
    [base64('{"v":"v9"}'), ': server does not recognize this encoded version v9'],
    [base64('{"v":null,"rv":null,"start":null}'), ': server does not recognize this encoded version '],
    [base64('null'), ': server does not recognize this encoded version '],
    [base64('[]'), ': json: cannot unmarshal array into Go value of type storage.continueToken'],
    [base64('{"rv":"5"}'), ': json: cannot unmarshal string into Go struct field continueToken.rv of type int64'],
    [
      base64('{"v":"meta.k8s.io/v1","start":"a"}'),
      ': incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    ],
    [base64('{"v":"meta.k8s.io/v1","rv":5}'), ': encoded start key empty (version meta.k8s.io/v1)'],
    [base64('{"v":"meta.k8s.io/v1","rv":5,"start":"../secrets/a"}'), ': ../secrets/a'],
    [base64('{"v":"meta.k8s.io/v1","rv":5,"start":"a//b"}'), ': a//b'],
  ])('%j is none', (text, why) => {
    expect(decodeContinue(text)).toEqual({
      ok: false,
      error: `invalid continue token: continue key is not valid${why}`,
    })
  })

  it('cannot be combined with a resourceVersion', () => {
    const text = encodeContinue({ revision: 5, startAfter: 'a' })
    expect(readContinue(text, '0')).toEqual({ revision: 5, startAfter: 'a' })
    expect(() => readContinue(text, '5')).toThrow('specifying resource version is not allowed when using continue')
    expect(() => readContinue('x', '5')).toThrow('invalid continue token')
  })
})

it('offers an inconsistent continuation when the revision is compacted', () => {
  const { status } = continueExpired({ revision: 5, startAfter: 'a' })
  expect(status).toMatchObject({ code: 410, reason: 'Expired' })
  expect(decodeContinue(status.metadata.continue ?? '')).toEqual({ ok: true, value: { revision: -1, startAfter: 'a' } })
  expect(listExpired().status).toMatchObject({ code: 410, metadata: {} })
})
