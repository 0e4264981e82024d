import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createRequestOrder } from './request-order.js'

class FakeSocket extends EventEmitter {
  destroyed = false
  isPaused = false
  pause(): void {
    this.isPaused = true
  }
  resume(): void {
    this.isPaused = false
  }
}

class FakeResponse extends EventEmitter {
  close(): void {
    this.emit('close')
  }
}

function setUp() {
  const socket = new FakeSocket()
  const order = createRequestOrder()
  const served: number[] = []
  const responses: FakeResponse[] = []
  const receive = (count: number): void => {
    for (let i = 0; i < count; i++) {
      const number = responses.length
      const response = new FakeResponse()
      responses.push(response)
      order(socket as unknown as Socket, response as unknown as ServerResponse, () => served.push(number))
    }
  }
  return { socket, served, responses, receive }
}

test('a request is served when the one before it is answered', () => {
  const { served, responses, receive } = setUp()
  receive(3)
  expect(served).toEqual([0])
  responses[0]!.close()
  expect(served).toEqual([0, 1])
  responses[1]!.close()
  responses[2]!.close()
  receive(1)
  expect(served).toEqual([0, 1, 2, 3])
})

test('nothing more is read while many wait', () => {
  const { socket, responses, receive } = setUp()
  receive(16)
  expect(socket.isPaused).toBe(false)
  receive(1)
  expect(socket.isPaused).toBe(true)
  responses[0]!.close()
  expect(socket.isPaused).toBe(false)
})

test('a connection that has ended is served no more', () => {
  const { socket, served, responses, receive } = setUp()
  receive(2)
  socket.destroyed = true
  for (const response of responses) response.close()
  expect(served).toEqual([0])
})
