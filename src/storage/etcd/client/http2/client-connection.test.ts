import { once } from 'node:events'
import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream, type Settings } from 'node:http2'
import { type AddressInfo, connect as connectSocket, createServer as createSocketServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ClientConnection } from './client-connection.js'
import type { ClientStream } from './client-stream.js'

const FIELDS = [':method', 'POST', ':scheme', 'http', ':path', '/a', ':authority', 'a', 'te', 'trailers', 'x', 'y']

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

/** A connection to Node's own server. */
async function connected(settings: Settings, serve: (stream: ServerHttp2Stream, headers: object) => void) {
  const server = createServer({ settings })
  let session: ServerHttp2Session | undefined
  server.on('session', opened => {
    session = opened
    session.on('error', () => {})
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    serve(stream, headers)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { connection, closed } = await connectTo((server.address() as AddressInfo).port)
  return { connection, closed, session: session! }
}

async function connectTo(port: number) {
  const socket = connectSocket(port, '127.0.0.1')
  await once(socket, 'connect')
  let [onReady, onClose] = [(): void => {}, (_error: Error | undefined): void => {}]
  const ready = new Promise<void>(resolve => (onReady = resolve))
  const closed = new Promise<Error | undefined>(resolve => (onClose = resolve))
  const connection = new ClientConnection(socket, { onReady, onActivity: () => {}, onClose })
  onTestFinished(() => connection.destroy())
  await Promise.race([ready, closed])
  return { connection, closed }
}

/** Opens a stream and gathers what comes on it. */
function request(connection: ClientConnection, body: Buffer) {
  const chunks: Buffer[] = []
  let stream!: ClientStream
  const ended = new Promise<string>(resolve => {
    stream = connection.open(FIELDS, {
      headers: (_, isEnd) => isEnd && resolve(Buffer.concat(chunks).toString()),
      data(bytes, isEnd) {
        chunks.push(bytes)
        if (isEnd) resolve(Buffer.concat(chunks).toString())
      },
      broken: resolve,
    })!
  })
  stream.write(body, true)
  return { stream, chunks, ended }
}

function echo(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200 })
  stream.pipe(stream)
}

test.each<[what: string, settings: Settings, size: number]>([
  ['small', {}, 10],
  ['empty', {}, 0],
  ['larger than a frame', {}, 50_000],
  ['larger than the window of the connection', {}, 1_000_000],
  ['larger than the window of a stream', { initialWindowSize: 100 }, 5_000],
])('a body is sent and received that is %s', async (_, settings, size) => {
  const { connection } = await connected(settings, echo)
  const bodies = ['a', 'b', 'c'].map(letter => letter.repeat(size))
  const streams = bodies.map(body => request(connection, Buffer.from(body)))
  expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual(bodies)
  expect(connection.size).toBe(0)
})

test('a body that is larger than all windows is received', async () => {
  const body = Buffer.alloc(40 * 1024 * 1024, 'x')
  const { connection } = await connected({}, stream => {
    stream.respond({ ':status': 200 })
    stream.end(body)
  })
  expect((await request(connection, Buffer.alloc(0)).ended).length).toBe(body.length)
})

test.each([4096, 0, 8192])('headers that repeat are understood with a table of %d bytes', async headerTableSize => {
  const seen: object[] = []
  const { connection } = await connected({ headerTableSize }, (stream, headers) => {
    seen.push(Object.fromEntries(Object.entries(headers)))
    echo(stream)
  })
  for (let i = 0; i < 3; i++) await request(connection, Buffer.from('body')).ended
  const expected = { ':method': 'POST', ':scheme': 'http', ':path': '/a', ':authority': 'a', te: 'trailers', x: 'y' }
  expect(seen).toEqual([expected, expected, expected])
})

test('streams wait for a place where the server allows few', async () => {
  const open: ServerHttp2Stream[] = []
  const { connection } = await connected({ maxConcurrentStreams: 1 }, stream => {
    open.push(stream)
    if (open.length > 1) echo(stream)
  })
  const [first, second, third] = ['a', 'b', 'c'].map(text => request(connection, Buffer.from(text)))
  third!.stream.cancel()
  while (open.length === 0) await new Promise(setImmediate)
  expect([first!.stream.id, second!.stream.id]).toEqual([1, 0])
  echo(open[0]!)
  expect(await Promise.all([first!.ended, second!.ended])).toEqual(['a', 'b'])
  expect(open).toHaveLength(2)
})

test('a paused stream holds what comes, and holds up no other one', async () => {
  let answer = (): void => {}
  const { connection, session } = await connected({}, stream => {
    stream.respond({ ':status': 200 })
    if (stream.id === 1) answer = () => void stream.end(Buffer.alloc(3 * 1024 * 1024, 'x'))
    else stream.end('other')
  })
  const paused = request(connection, Buffer.from('a'))
  paused.stream.pause()
  expect(await request(connection, Buffer.from('b')).ended).toBe('other')
  answer()
  await new Promise(resolve => session.ping(resolve))
  expect(paused.chunks).toEqual([])
  expect(await request(connection, Buffer.from('b')).ended).toBe('other')
  paused.stream.resume()
  expect((await paused.ended).length).toBe(3 * 1024 * 1024)
})

test('after GOAWAY, streams that the server has taken go on, and the others were not sent', async () => {
  const open: ServerHttp2Stream[] = []
  const { connection, closed, session } = await connected({}, stream => {
    open.push(stream)
    if (open.length === 2) session.goaway(constants.NGHTTP2_NO_ERROR, 1)
  })
  const [first, second] = ['a', 'b'].map(text => request(connection, Buffer.from(text)))
  expect(await second!.ended).toBe('unsent')
  expect(connection.isOpen).toBe(false)
  expect(connection.open(FIELDS, { headers: () => {}, data: () => {}, broken: () => {} })).toBeUndefined()
  echo(open[0]!)
  expect(await first!.ended).toBe('a')
  expect(await closed).toBeUndefined()
})

test('after GOAWAY, a stream without an end is broken off, since the server would wait for it', async () => {
  const { connection, closed, session } = await connected({}, stream => stream.respond({ ':status': 200 }))
  const ended = new Promise(resolve => {
    const watching = { headers: () => session.goaway(), data: () => {}, broken: resolve }
    connection.open(FIELDS, watching)!.write(Buffer.from('a'))
  })
  expect(await ended).toBe('lost')
  expect(await closed).toBeUndefined()
})

test('a retired connection ends with its last stream', async () => {
  const open: ServerHttp2Stream[] = []
  const { connection, closed } = await connected({}, stream => void open.push(stream))
  const { ended } = request(connection, Buffer.from('a'))
  while (open.length === 0) await new Promise(setImmediate)
  connection.retire()
  expect(connection.isOver).toBe(false)
  echo(open[0]!)
  expect(await ended).toBe('a')
  expect(await closed).toBeUndefined()
})

test.each([
  ['is not HTTP/2', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['has a frame that is too large', hex('ffffff040000000000')],
  ['sends settings of a wrong size', hex('000001040000000000 00')],
  ['answers a request that was not made', hex('000000040000000000 000001010500000001 88')],
  ['pushes', hex('000000040000000000 000004050400000001 00000002')],
])('a connection fails when the server %s', async (_, bytes) => {
  const server = createSocketServer(socket => {
    socket.on('error', () => {})
    socket.write(bytes)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { closed } = await connectTo((server.address() as AddressInfo).port)
  expect(await closed).toBeInstanceOf(Error)
})
