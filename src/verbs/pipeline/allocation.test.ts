import { beforeEach, expect, test } from 'vitest'
import { noteKind } from '../../kinds/fake-kinds.suite.js'
import type { Allocation } from '../../kinds/kind.js'
import { fieldInvalid } from '../../meta/errors/field-errors.js'
import { badRequest, internalError } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { type Target } from '../../request/target.js'
import { withAllocation } from './allocation.js'

let happened: string[]
beforeEach(() => {
  happened = []
})

const object: ApiObject = { apiVersion: 'v1', kind: 'Note', metadata: { name: 'a' } }
const say = (what: string) => async (): Promise<void> => void happened.push(what)

function target(faults: readonly string[] = [], subresource: Target['subresource'] = ''): Target {
  const allocation: Allocation = {
    async allocate() {
      happened.push('take')
      const errors = faults.map(why => fieldInvalid('spec.number', 7, why))
      return { errors, commit: say('settle'), rollback: say('undo') }
    },
    release: say('release'),
  }
  const kind = { ...noteKind(), allocation }
  return { kind, version: kind.versions[0]!, namespace: 'x', name: '', subresource }
}

async function write(to: Target, outcome: unknown, dryRun = false): Promise<unknown> {
  try {
    return await withAllocation(to, object, undefined, dryRun, async () => {
      happened.push('write')
      if (outcome instanceof Error) throw outcome
      return outcome as ApiObject | undefined
    })
  } catch (error) {
    return (error as Error).message
  }
}

test('what is stored keeps what it was given', async () => {
  expect(await write(target(), object)).toBe(object)
  expect(happened).toEqual(['take', 'write', 'settle'])
})

test.each([
  ['is not stored', undefined, false],
  ['is refused', badRequest('no'), false],
  ['is a dry run', object, true],
])('what %s gives it back', async (_, outcome, dryRun) => {
  await write(target(), outcome, dryRun)
  expect(happened).toEqual(['take', 'write', 'undo'])
})

test('where nobody knows whether it was stored, it stays taken', async () => {
  await write(target(), internalError('the store did not answer'))
  expect(happened).toEqual(['take', 'write'])
})

test('what cannot be had is told instead of anything else', async () => {
  expect(await write(target(['is taken']), object)).toBe('Note "a" is invalid: spec.number: Invalid value: 7: is taken')
  expect(happened).toEqual(['take'])
})

test('a part of an object takes nothing', async () => {
  await write(target([], 'status'), object)
  expect(happened).toEqual(['write'])
})
