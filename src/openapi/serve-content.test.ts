import { expect, test } from 'vitest'
import { type Content, type ContentRequest, serveContent } from './serve-content.js'

const MODIFIED = Date.UTC(2024, 1, 29, 12, 0, 0, 500)
const content: Content = {
  etag: '"A1"',
  modified: MODIFIED,
  headers: { 'content-type': 'application/json', vary: 'Accept' },
  body: () => Buffer.from('0123456789'),
}
const EARLIER = 'Thu, 29 Feb 2024 11:59:59 GMT'
const SAME = 'Thu, 29 Feb 2024 12:00:00 GMT'
const LATER = 'Thu, 29 Feb 2024 12:00:01 GMT'

const send = (headers: ContentRequest['headers'], method = 'GET', document = content) => {
  const { body, ...response } = serveContent({ method, headers }, document)
  return { ...response, text: body.toString() }
}

test.each([
  [{}, 200],
  [{ 'if-match': '*' }, 200],
  [{ 'if-match': '"A1"' }, 200],
  [{ 'if-match': '"x" , "A1"' }, 200],
  [{ 'if-match': '"x"' }, 412],
  [{ 'if-match': 'W/"A1"' }, 412],
  [{ 'if-match': 'A1' }, 412],
  [{ 'if-match': '' }, 200],
  [{ 'if-unmodified-since': EARLIER }, 412],
  [{ 'if-unmodified-since': SAME }, 200],
  [{ 'if-unmodified-since': 'yesterday' }, 200],
  // If-Match stands before it.
  [{ 'if-match': '*', 'if-unmodified-since': EARLIER }, 200],
  [{ 'if-none-match': '*' }, 304],
  [{ 'if-none-match': 'W/"A1"' }, 304],
  [{ 'if-none-match': '"x",W/"y", "A1"' }, 304],
  [{ 'if-none-match': 'x, "A1"' }, 200],
  [{ 'if-none-match': '"x"' }, 200],
  [{ 'if-modified-since': EARLIER }, 200],
  [{ 'if-modified-since': SAME }, 304],
  [{ 'if-modified-since': LATER }, 304],
  // So does If-None-Match.
  [{ 'if-none-match': '"x"', 'if-modified-since': LATER }, 200],
])('%j is answered %i', (headers, status) => {
  expect(send(headers).status).toBe(status)
})

test('conditions of dates are for reads only, and a matching If-None-Match refuses other methods', () => {
  expect(send({ 'if-modified-since': LATER }, 'POST').status).toBe(200)
  expect(send({ 'if-none-match': '*' }, 'POST').status).toBe(412)
})

test('what the client has is answered without its type and time', () => {
  expect(send({ 'if-none-match': '*' })).toEqual({ status: 304, headers: { etag: '"A1"', vary: 'Accept' }, text: '' })
})

test('a whole document says that ranges of it can be had', () => {
  expect(send({}).headers).toEqual({
    'content-type': 'application/json',
    vary: 'Accept',
    etag: '"A1"',
    'last-modified': SAME,
    'accept-ranges': 'bytes',
  })
})

test.each([
  ['bytes=0-0', '0', 'bytes 0-0/10'],
  ['bytes=2-4', '234', 'bytes 2-4/10'],
  ['bytes=7-', '789', 'bytes 7-9/10'],
  ['bytes=-3', '789', 'bytes 7-9/10'],
  ['bytes=-30', '0123456789', 'bytes 0-9/10'],
  ['bytes=8-99', '89', 'bytes 8-9/10'],
  ['bytes= 1 - 2 ', '12', 'bytes 1-2/10'],
  ['bytes=0-1,50-', '01', 'bytes 0-1/10'],
])('the range %s is %s', (range, text, described) => {
  const response = send({ range })
  expect(response).toMatchObject({ status: 206, text })
  expect(response.headers['content-range']).toBe(described)
})

test('several ranges are parts of one response', () => {
  const { status, headers, text } = send({ range: 'bytes=0-1,-1' })
  expect(status).toBe(206)
  const [, boundary] = /^multipart\/byteranges; boundary=(\w+)$/.exec(headers['content-type']!)!
  const part = (range: string, body: string) =>
    `--${boundary}\r\nContent-Range: ${range}\r\nContent-Type: application/json\r\n\r\n${body}\r\n`
  expect(text).toBe(`${part('bytes 0-1/10', '01')}${part('bytes 9-9/10', '9')}--${boundary}--\r\n`)
})

test('ranges that hold more than the document are not worth it', () => {
  expect(send({ range: 'bytes=0-,0-' })).toMatchObject({ status: 200, text: '0123456789' })
})

test('very many ranges are answered with the document', () => {
  const document = 'x'.repeat(10_000)
  const range = `bytes=${Array.from({ length: 1_001 }, () => '0-0').join(',')}`
  const sent = send({ range }, 'GET', { ...content, body: () => Buffer.from(document) })
  expect(sent).toMatchObject({ status: 200, text: document })
})

test.each(['bytes=x', 'bytes=5-2', 'bytes=-', 'lines=0-1', 'bytes=0-1,x'])('%s is no range', range => {
  expect(send({ range })).toEqual({
    status: 416,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff', vary: 'Accept' },
    text: 'invalid range\n',
  })
})

test('a range beyond the document is refused with its size', () => {
  const { status, headers, text } = send({ range: 'bytes=10-' })
  expect([status, headers['content-range'], text]).toEqual([416, 'bytes */10', 'invalid range: failed to overlap\n'])
})

test.each([
  ['"A1"', 206],
  ['"x"', 200],
  ['W/"A1"', 200],
  [SAME, 206],
  [LATER, 200],
])('with If-Range: %s a range is answered %i', (ifRange, status) => {
  expect(send({ range: 'bytes=0-0', 'if-range': ifRange }).status).toBe(status)
})
