import { once } from 'node:events'
import { constants, createServer, type Http2Server, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Connection, openConnection } from './connection.js'
import { callHeaders, duplex, GrpcCode, GrpcError, grpcTimeout, percentDecoded, unary } from './grpc.js'

const connect = (port: number) => openConnection(`http://127.0.0.1:${port}`, { connectTimeoutMs: 5_000 })
const headersAt = (client: Connection) => callHeaders(client, '/a.B/C')
const FRAME = Buffer.from([0, 0, 0, 0, 2, 104, 105])

describe('a call', () => {
  let server: Http2Server
  let client: Connection
  let serverSession: Http2Session
  let answer: (stream: ServerHttp2Stream) => void

  beforeEach(async () => {
    server = createServer()
    server.on('session', session => {
      serverSession = session
      session.on('error', () => {})
    })
    server.on('stream', stream => {
      stream.on('error', () => {})
      stream.resume()
      answer(stream)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    client = await connect((server.address() as AddressInfo).port)
  })

  afterEach(async () => {
    client.destroy()
    await new Promise(resolve => server.close(resolve))
  })

  const call = (timeoutMs = 2_000) => unary(client, headersAt(client), FRAME, timeoutMs)
  const failure = async (promise: Promise<unknown>): Promise<GrpcError> => {
    const error = await promise.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof GrpcError)) throw new Error(`expected a GrpcError, got ${String(error)}`)
    return error
  }
  const withTrailers = (stream: ServerHttp2Stream, trailers: Record<string, string>, body?: Buffer) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.end(body)
  }

  test('is answered with the message', async () => {
    answer = stream => withTrailers(stream, { 'grpc-status': '0' }, FRAME)
    expect((await call()).toString()).toBe('hi')
  })

  test('fails with the status in the trailers', async () => {
    answer = stream => withTrailers(stream, { 'grpc-status': '11', 'grpc-message': 'no%20such%20thing: %C3%A9' })
    expect(await failure(call())).toMatchObject({ code: 11, message: 'no such thing: é', progress: 'answered' })
  })

  test('fails with a status in the initial headers', async () => {
    answer = stream =>
      stream.respond({ ':status': 200, 'grpc-status': '14', 'grpc-message': 'no' }, { endStream: true })
    expect(await failure(call())).toMatchObject({ code: 14, message: 'no', progress: 'answered' })
  })

  test('ends when the answer is longer than it may be', async () => {
    let isClosed = false
    answer = stream => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      stream.on('close', () => (isClosed = true))
      stream.write(Buffer.alloc(100_000))
    }
    const error = await failure(unary(client, headersAt(client), FRAME, 60_000, 1_000))
    expect(error).toMatchObject({ code: GrpcCode.resourceExhausted, progress: 'lost' })
    await expect.poll(() => isClosed).toBe(true)
  })

  test('is unsent when the peer refuses the stream', async () => {
    answer = stream => stream.close(constants.NGHTTP2_REFUSED_STREAM)
    expect((await failure(call())).progress).toBe('unsent')
  })

  test('is unsent when the peer sends GOAWAY without processing it', async () => {
    let streams = 0
    const arrived = new Promise<void>(resolve => {
      answer = stream => {
        if (++streams === 1) return resolve()
        serverSession.goaway(constants.NGHTTP2_NO_ERROR, stream.id! - 2)
      }
    })
    const first = failure(call(100))
    await arrived
    expect((await failure(call())).progress).toBe('unsent')
    expect((await first).progress).toBe('lost')
  })

  test('is unsent on a connection that is closed', async () => {
    client.destroy()
    expect((await failure(call())).progress).toBe('unsent')
  })

  test('is lost when the connection breaks', async () => {
    answer = () => serverSession.destroy()
    expect((await failure(call())).progress).toBe('lost')
  })

  test('is lost when no answer comes in time', async () => {
    answer = () => {}
    expect(await failure(call(20))).toMatchObject({ code: GrpcCode.deadlineExceeded, progress: 'lost' })
  })

  test.each<[what: string, (stream: ServerHttp2Stream) => void]>([
    ['is not gRPC', stream => stream.respond({ ':status': 503 }, { endStream: true })],
    ['ends before its trailers', stream => stream.respond({ ':status': 200 }, { endStream: true })],
    ['holds no message', stream => withTrailers(stream, { 'grpc-status': '0' })],
    ['holds half a message', stream => withTrailers(stream, { 'grpc-status': '0' }, FRAME.subarray(0, 6))],
    ['is reset', stream => stream.close(constants.NGHTTP2_INTERNAL_ERROR)],
  ])('is lost when the answer %s', async (_, respond) => {
    answer = respond
    expect((await failure(call())).progress).toBe('lost')
  })

  test('has a stream in both directions, held back when paused', async () => {
    const body: Buffer[] = []
    answer = stream => {
      stream.respond({ ':status': 200 })
      stream.on('data', (chunk: Buffer) => {
        body.push(chunk)
        stream.write(chunk)
      })
    }
    const seen: string[] = []
    let wake = () => {}
    const stream = duplex(client, headersAt(client), {
      message(message) {
        seen.push(message.toString())
        wake()
      },
      end: () => {},
    })
    const received = (count: number) =>
      new Promise<void>(resolve => {
        wake = () => seen.length >= count && resolve()
        wake()
      })
    stream.send(FRAME)
    await received(1)
    stream.pause()
    stream.send(FRAME)
    stream.send(FRAME)
    // Its answer comes after that of the stream.
    await new Promise(resolve => serverSession.ping(resolve))
    expect(seen).toHaveLength(1)
    stream.resume()
    await received(3)
    stream.close()
  })

  test.each<[what: string, (stream: ServerHttp2Stream) => void]>([
    ['the peer ends it', stream => withTrailers(stream, { 'grpc-status': '0' })],
    ['the peer answers with an error', stream => withTrailers(stream, { 'grpc-status': '14' })],
    ['the connection breaks', () => serverSession.destroy()],
    [
      'nonsense comes',
      stream => {
        stream.respond({ ':status': 200 })
        stream.write(Buffer.alloc(10, 0xff))
      },
    ],
  ])('as a stream is over when %s', async (_, respond) => {
    answer = respond
    const ended = await new Promise(resolve => {
      duplex(client, headersAt(client), { message: () => {}, end: resolve })
    })
    expect(ended).toBeInstanceOf(GrpcError)
  })
})

test.each([
  [1, '1S'],
  [5_000, '5S'],
  [5_001, '6S'],
  [1e15, '99999999S'],
])('%i ms are %s to the peer', (ms, text) => {
  expect(grpcTimeout(ms)).toBe(text)
})

test.each([
  ['plain', 'plain'],
  ['a%20b', 'a b'],
  ['100%', '100%'],
  ['%E4%BD%A0', '你'],
  ['%zz', '%zz'],
])('%j reads %j', (text, expected) => {
  expect(percentDecoded(text)).toBe(expected)
})

test('a call is answered if the answer came in time and was read late', async () => {
  const TIMEOUT_MS = 50
  const answered = new Int32Array(new SharedArrayBuffer(4))
  // On another thread, because this one is held up.
  const server = new Worker(ANSWERING, { eval: true, workerData: { answered, frame: FRAME } })
  const [port] = (await once(server, 'message')) as [number]
  const client = await connect(port)
  const call = unary(client, headersAt(client), FRAME, TIMEOUT_MS)
  // Once the request is sent, the loop stands still until the answer is there and the time is over.
  setImmediate(() =>
    setImmediate(() => {
      Atomics.wait(answered, 0, 0, 10_000)
      Atomics.wait(answered, 0, 1, 2 * TIMEOUT_MS)
    }),
  )
  expect((await call).toString()).toBe('hi')
  client.destroy()
  await server.terminate()
})

const ANSWERING = `
const { workerData: { answered, frame }, parentPort } = require('node:worker_threads')
const server = require('node:http2').createServer()
server.on('stream', stream => {
  stream.resume()
  stream.respond({ ':status': 200 }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.on('close', () => {
    Atomics.store(answered, 0, 1)
    Atomics.notify(answered, 0)
  })
  stream.end(frame)
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`
