import { expect, test } from 'vitest'
import { createCommitPace } from './commit-pace.js'

test('commits a single small write at once, and several or large ones on the thread', () => {
  const pace = createCommitPace()
  expect(pace.isAtOnce(1, 1000)).toBe(true)
  expect(pace.isAtOnce(2, 1000)).toBe(false)
  expect(pace.isAtOnce(0, 0)).toBe(false)
  expect(pace.isAtOnce(1, 1_000_000)).toBe(false)
})

test('commits a single write after several on the thread, where other clients are about to write', () => {
  const pace = createCommitPace()
  pace.isAtOnce(5, 1000)
  expect(pace.isAtOnce(1, 1000)).toBe(false)
  expect(pace.isAtOnce(1, 1000)).toBe(true)
})

test('leaves a slow disk to the thread, and tries it again the later the slower it was', () => {
  const commitsUntilTriedAgain = (milliseconds: number): number => {
    const pace = createCommitPace()
    pace.took(milliseconds)
    let commits = 0
    while (!pace.isAtOnce(1, 1000)) commits++
    return commits
  }
  expect(commitsUntilTriedAgain(1)).toBe(0)
  expect(commitsUntilTriedAgain(5)).toBe(8)
  expect(commitsUntilTriedAgain(100)).toBe(37)
})
