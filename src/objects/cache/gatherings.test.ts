import { beforeEach, expect, test } from 'vitest'
import { createGatherings, type Gathering, type Gatherings } from './gatherings.js'

let time: number
let gatherings: Gatherings
let dropped: string[]
beforeEach(() => {
  time = 0
  dropped = []
  gatherings = createGatherings(100, () => time)
})

const [A, B, C] = [{}, {}, {}]
const begin = (list: object, name: string): Gathering | undefined =>
  gatherings.begin(list, isTooLarge => void dropped.push(isTooLarge ? `${name}, too large` : name))

test('a list is gathered by one response, until that is over or its client stands still', () => {
  const first = begin(A, 'first')!
  expect(begin(A, 'second')).toBeUndefined()
  first.end()
  begin(A, 'second')!.add(1)
  time += 499
  expect(begin(A, 'third')).toBeUndefined()
  time += 1
  begin(A, 'third')
  expect(dropped).toEqual(['second'])
})

test('all together have a bound: what stands still for longest is dropped', () => {
  const [a, b, c] = [begin(A, 'a')!, begin(B, 'b')!, begin(C, 'c')!]
  a.add(30)
  b.add(40)
  c.add(20)
  a.add(10)
  expect(dropped).toEqual([])
  a.add(10)
  expect(dropped).toEqual(['b'])
  b.add(1000)
  c.add(30)
  expect(dropped).toEqual(['b'])
  c.end()
  a.add(50)
  expect(dropped).toEqual(['b'])
})

test('a list that is too large by itself is dropped as such, and not others for it', () => {
  const [a, b] = [begin(A, 'a')!, begin(B, 'b')!]
  a.add(10)
  b.add(101)
  expect(dropped).toEqual(['b, too large'])
})
