import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createNewConnections } from './new-connections.js'

function socketOf(remotePort: number) {
  const socket = Object.assign(new EventEmitter(), {
    remoteAddress: '127.0.0.1',
    remotePort,
    isDestroyed: false,
    destroy: () => void (socket.isDestroyed = true),
  })
  return socket
}

const asSocket = (socket: EventEmitter): Socket => socket as unknown as Socket

test('the oldest of too many connections without a request is closed', () => {
  const connections = createNewConnections({ max: 2, firstRequestMs: 1000 })
  const sockets = [1, 2, 3].map(socketOf)
  for (const socket of sockets) connections.add(asSocket(socket))
  expect(sockets.map(({ isDestroyed }) => isDestroyed)).toEqual([true, false, false])
  connections.closeAll()
})

test('a connection on which a request was served is not added again', () => {
  const connections = createNewConnections({ max: 2, firstRequestMs: 1000 })
  const socket = socketOf(1)
  for (let i = 0; i < 100; i++) {
    connections.add(asSocket(socket))
    connections.served(asSocket(socket))
  }
  expect([socket.listenerCount('close'), connections.count]).toEqual([1, 0])
  connections.closeAll()
})
