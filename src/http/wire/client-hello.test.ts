import { createServer, type Socket } from 'node:net'
import { connect } from 'node:tls'
import { expect, test } from 'vitest'
import { INCOMPLETE, requestedName } from './client-hello.js'

/** The first bytes that a client of TLS sends. */
async function helloOf(servername: string | undefined): Promise<Buffer> {
  const server = createServer()
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const accepted = new Promise<Socket>(resolve => void server.once('connection', resolve))
  const client = connect({ port, host: '127.0.0.1', servername: servername ?? '' })
  client.on('error', () => {})
  const socket = await accepted
  const bytes = await new Promise<Buffer>(resolve => void socket.once('data', resolve))
  client.destroy()
  socket.destroy()
  server.close()
  return bytes
}

test('the name that a client asks for is found, whatever part of the message has arrived', async () => {
  const hello = await helloOf('Foo.example')
  expect(requestedName(hello)).toBe('foo.example')
  for (let length = 0; length < hello.length; length++)
    expect(requestedName(hello.subarray(0, length))).toBe(INCOMPLETE)
})

test('a message in several records is read', async () => {
  const hello = await helloOf('foo.example')
  const body = hello.subarray(5)
  const record = (part: Buffer): Buffer => {
    const head = Buffer.from([22, 3, 1, 0, 0])
    head.writeUInt16BE(part.length, 3)
    return Buffer.concat([head, part])
  }
  expect(requestedName(Buffer.concat([record(body.subarray(0, 2)), record(body.subarray(2))]))).toBe('foo.example')
})

test('a message in very many records is read in time that grows with its length', () => {
  // The message is longer than what is looked at, so that it is never complete.
  const record = Buffer.from([22, 3, 1, 0, 1, 1])
  const bytes = Buffer.concat(Array.from({ length: 10_000 }, () => record))
  const began = process.cpuUsage()
  for (let i = 0; i < 20; i++) expect(requestedName(bytes)).toBe(INCOMPLETE)
  expect(process.cpuUsage(began).user).toBeLessThan(1_000_000)
  // TLS has no empty ones.
  expect(requestedName(Buffer.from([22, 3, 1, 0, 0]))).toBeUndefined()
})

test('a client without a name, and bytes that are no first message, have none', async () => {
  expect(requestedName(await helloOf(undefined))).toBeUndefined()
  expect(requestedName(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toBeUndefined()
  const hello = await helloOf('foo.example')
  for (let at = 5; at < hello.length; at++) {
    for (const value of [0, 255]) {
      const broken = Buffer.from(hello)
      broken[at] = value
      expect(() => requestedName(broken)).not.toThrow()
    }
  }
})
