import { expect, test } from 'vitest'
import { editDistance, nearest } from './nearest.js'

test.each([
  ['', '', 0],
  ['a', '', 1],
  ['', 'abc', 3],
  ['kitten', 'sitting', 3],
  ['secure-prot', 'secure-port', 2],
])('from %j to %j it takes %i changes', (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance)
  expect(editDistance(to, from)).toBe(distance)
})

test('the nearest of several is found', () => {
  expect(nearest('etcd-server', ['etcd-prefix', 'etcd-servers-overrides', 'etcd-servers'])).toBe('etcd-servers')
})

test('a word that resembles none has no nearest word', () => {
  expect(nearest('colour', ['etcd-servers', 'secure-port'])).toBeUndefined()
})
