import { expect, test } from 'vitest'
import { malformedResponse } from './malformed-response.js'
import { errorOfMediaType } from './media-type.js'

const reasonOf = (text: string): string | undefined =>
  malformedResponse({ code: 'HPE_INVALID_CONSTANT', rawPacket: Buffer.from(text) })?.replace(
    'net/http: HTTP/1.x transport connection broken: ',
    '',
  )

test.each([
  ['sorry', 'malformed HTTP response "sorry"'],
  ['hello there\r\n\r\n', 'malformed HTTP status code "there"'],
  ['HTTP/1.1 20 OK\r\n\r\n', 'malformed HTTP status code "20"'],
  ['HTTQ/1.1 200 OK\r\n\r\n', 'malformed HTTP version "HTTQ/1.1"'],
  ['HTTP/1.1 200 OK\r\nno colon here\r\n\r\n{}', 'malformed MIME header: missing colon: "no colon here"'],
  ['HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}', 'bad Content-Length "-1"'],
  [
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 3\r\n\r\n{}x',
    'http: message cannot contain multiple Content-Length headers; got ["2" "3"]',
  ],
  ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 199 Odd\r\nA: b\r\n\r\nsorry', 'malformed HTTP response "sorry"'],
  ['HTTP/1.1 200 OK\r\n\r\n', undefined],
  ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000), undefined],
])('%j cannot be read, as Go says', (text, reason) => {
  expect(reasonOf(text)).toBe(reason)
})

test('other errors than those of the parser are left', () => {
  expect(malformedResponse(new Error('x'))).toBeUndefined()
})

test.each([
  ['application/json', undefined],
  ['application/json; charset="utf-8" ;', undefined],
  ['nonsense', undefined],
  [';a=b', 'no media type'],
  ['a b', 'expected slash after first token'],
  ['a/', 'expected token after slash'],
  ['a/b c', 'unexpected content after media subtype'],
  ['application/json;q', 'invalid media parameter'],
  ['a/b; c=d; C=e', 'duplicate parameter name'],
])('the media type %j', (given, error) => {
  expect(errorOfMediaType(given)).toBe(error)
})
