import { beforeEach, expect, test } from 'vitest'
import type { Outgoing } from './exchange.js'
import { type SlicedOutput, slicedOutput } from './sliced-output.js'

/** A client that takes so many bytes more. */
let room: number
let written: Buffer[]
let log: string[]
let drained: (() => void) | undefined
let output: SlicedOutput
beforeEach(() => {
  room = 100_000
  written = []
  log = []
  const socket: Outgoing = {
    write(chunk) {
      written.push(Buffer.from(chunk))
      room -= chunk.length
      return room > 0
    },
    onDrain: listener => void (drained = listener),
    end: () => void log.push('end'),
    abort: () => void log.push('abort'),
  }
  output = slicedOutput(socket)
  output.onDrain(() => log.push('drain'))
})

const read = (bytes: number): void => {
  room += bytes
  drained!()
}
const large = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251))

test('a small chunk is written as it is', () => {
  expect(output.write('small')).toBe(true)
  expect(written.map(String)).toEqual(['small'])
  expect(output.pending).toBe(0)
})

test('a large chunk is written as the client reads, and then more is wanted', () => {
  expect(output.write(large)).toBe(false)
  expect(Buffer.concat(written).length).toBeLessThan(150_000)
  expect(output.pending).toBe(large.length - Buffer.concat(written).length)
  read(100_000)
  expect(log).toEqual([])
  read(10_000_000)
  expect(log).toEqual(['drain'])
  expect(output.pending).toBe(0)
  expect(Buffer.concat(written).equals(large)).toBe(true)
})

test('chunks stay in order, and the end comes after the last of them', () => {
  output.write(large)
  expect(output.write('last')).toBe(false)
  output.end()
  output.write('after the end')
  expect(log).toEqual([])
  read(100_000)
  expect(log).toEqual([])
  read(10_000_000)
  expect(Buffer.concat(written).equals(Buffer.concat([large, Buffer.from('last')]))).toBe(true)
  expect(log).toEqual(['end'])
})

test('a large chunk for a client that reads is written at once', () => {
  room = 10_000_000
  expect(output.write(large)).toBe(true)
  expect(output.pending).toBe(0)
})

test('nothing is held after an abort', () => {
  output.write(large)
  output.abort()
  expect(output.pending).toBe(0)
  expect(log).toEqual(['abort'])
})
