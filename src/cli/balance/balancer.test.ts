import { once } from 'node:events'
import { type AddressInfo, createServer, connect as openConnection, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { type Balancer, startBalancer, type Target } from './balancer.js'

const ANY = { host: '127.0.0.1', port: 0 }
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** A server that says its name, and then repeats what it gets until the client has sent all. */
async function named(name: string): Promise<{ target: Target; sockets: Socket[]; server: Server }> {
  const sockets: Socket[] = []
  const server = createServer({ allowHalfOpen: true }, socket => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.write(name)
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { target: { host: '127.0.0.1', port: (server.address() as AddressInfo).port }, sockets, server }
}

async function balanced(...targets: Target[]): Promise<Balancer> {
  const balancer = await startBalancer(targets, ANY)
  cleanups.push(() => balancer.stop())
  return balancer
}

async function open(balancer: Balancer): Promise<{ name: string; socket: Socket }> {
  const socket = openConnection(balancer.address)
  cleanups.push(() => socket.destroy())
  socket.on('error', () => {})
  const [first] = (await once(socket, 'data')) as [Buffer]
  return { name: first.toString(), socket }
}

/** A port at which nothing listens. */
async function unused(): Promise<Target> {
  const { target, server } = await named('x')
  server.close()
  await once(server, 'close')
  return target
}

test('connections go to servers that are ready, and to those with fewer connections', async () => {
  const [a, b, c] = [await named('a'), await named('b'), await named('c')]
  const balancer = await balanced(a.target, b.target, c.target)
  balancer.setReadiness(a.target, 'stopping')
  balancer.setReadiness(b.target, 'ready')
  balancer.setReadiness(c.target, 'ready')
  const names = []
  for (let i = 0; i < 4; i++) names.push((await open(balancer)).name)
  expect(names).toEqual(['b', 'c', 'b', 'c'])
})

test('a connection goes to the next server if one does not accept it', async () => {
  const b = await named('b')
  const dead = await unused()
  const balancer = await balanced(dead, b.target)
  balancer.setReadiness(dead, 'ready')
  balancer.setReadiness(b.target, 'ready')
  expect((await open(balancer)).name).toBe('b')
})

test('connections to a server that is away are closed, those to one that stops are not', async () => {
  const [a, b, c] = [await named('a'), await named('b'), await named('c')]
  const balancer = await balanced(a.target, b.target, c.target)
  for (const { target } of [a, b, c]) balancer.setReadiness(target, 'ready')
  const [toA, toB] = [await open(balancer), await open(balancer)]
  balancer.setReadiness(b.target, 'stopping')
  balancer.setReadiness(a.target, 'away')
  await once(toA.socket, 'close')
  toB.socket.write('still here')
  expect(String((await once(toB.socket, 'data'))[0])).toBe('still here')
})

test('a server that is away is used if no other is ready', async () => {
  const a = await named('a')
  const dead = await unused()
  const balancer = await balanced(dead, a.target)
  const { socket } = await open(balancer)
  balancer.setReadiness(a.target, 'away')
  balancer.setReadiness(dead, 'away')
  socket.write('kept')
  expect(String((await once(socket, 'data'))[0])).toBe('kept')
  expect((await open(balancer)).name).toBe('a')
})

test('a client without any server is disconnected', async () => {
  const balancer = await balanced(await unused())
  const socket = openConnection(balancer.address)
  const closed = once(socket, 'close')
  expect(await closed).toEqual([false])
})

test('all that was sent arrives, in both directions, also behind an end', async () => {
  const a = await named('a')
  const { socket } = await open(await balanced(a.target))
  const sent = Buffer.alloc(3_000_000, 'x')
  socket.end(sent)
  let received = 0
  for await (const chunk of socket) received += (chunk as Buffer).length
  expect(received).toBe(sent.length)
})

test('a client that leaves, and a server that closes, close the other side', async () => {
  const a = await named('a')
  const balancer = await balanced(a.target)
  const first = await open(balancer)
  first.socket.destroy()
  await once(a.sockets[0]!, 'close')
  const second = await open(balancer)
  const closed = once(second.socket, 'close')
  a.sockets[1]!.destroy()
  expect(await closed).toEqual([false])
})

test('a stop closes all connections', async () => {
  const a = await named('a')
  const balancer = await balanced(a.target)
  const { socket } = await open(balancer)
  await balancer.stop()
  if (!socket.closed) await once(socket, 'close')
  expect(socket.closed).toBe(true)
})
