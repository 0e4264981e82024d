import { beforeEach, expect, test } from 'vitest'
import { noteKind } from '../../kinds/fake-kinds.suite.js'
import type { Allocation } from '../../kinds/kind.js'
import { fieldInvalid } from '../../meta/errors/field-errors.js'
import { badRequest, internalError } from '../../meta/errors/status.js'
import { type ApiObject } from '../../meta/object/api-object.js'
import { statusOf } from '../../objects/storage-status.js'
import { clientGone, forResource, systemRequest } from '../../request/request.js'
import { guardChanged, StorageError } from '../../storage/storage-error.js'
import { offlineEnv } from './pipeline-env.js'
import { prepareCreate } from './prepare-create.js'
import { MADE, storePrepared } from './prepared.js'

let calls: string[]
beforeEach(() => {
  calls = []
})

const note = (): ApiObject => ({ apiVersion: 'v1', kind: 'Note', metadata: { name: 'a' } })
const call = (name: string) => async (): Promise<void> => void calls.push(name)

interface Options {
  readonly errors?: readonly string[]
  readonly subresource?: string
  readonly dryRun?: boolean
  /** What validating admission throws. */
  readonly refusal?: Error
}

/** Prepares a note that allocates, and stores it with an outcome. */
async function write(outcome: unknown, { errors = [], subresource = '', dryRun = false, refusal }: Options = {}) {
  const allocation: Allocation = {
    async allocate() {
      calls.push('allocate')
      return {
        errors: errors.map(why => fieldInvalid('spec.number', 7, why)),
        commit: call('commit'),
        rollback: call('rollback'),
      }
    },
    release: call('release'),
  }
  const kind = noteKind()
  const target = { kind, version: kind.versions[0]!, namespace: 'x', name: '', subresource }
  const user = { name: 'test', uid: '', groups: [], extra: {} }
  const options = { dryRun, fieldManager: '', fieldValidation: '' } as const
  const request = forResource(systemRequest({ user, userAgent: 'test' }), target, options)
  const env = offlineEnv({
    allocationOf: () => allocation,
    admission: {
      mutate: () => undefined,
      check: () => [],
      validate() {
        if (refusal) throw refusal
      },
      stored() {},
    },
  })
  try {
    const prepared = await prepareCreate(env, request, note(), MADE)
    return await storePrepared(prepared, { dryRun, isApply: false }, async () => {
      calls.push('store')
      if (outcome instanceof Error) throw outcome
      return outcome
    })
  } catch (error) {
    return (error as Error).message
  }
}

test('the allocation of a stored object is committed', async () => {
  expect(await write('stored')).toBe('stored')
  expect(calls).toEqual(['allocate', 'store', 'commit'])
})

test.each([
  ['is not stored', undefined, false],
  ['is refused', badRequest('no'), false],
  ['is a dry run', 'stored', true],
  ['has lost its client', clientGone(), false],
  ['depends on what has changed', statusOf(guardChanged('/namespaces/x'), 0), false],
  ['finds no space', statusOf(new StorageError('no-space', 'the disk is full'), 0), false],
])('the allocation of an object that %s is rolled back', async (_, outcome, dryRun) => {
  await write(outcome, { dryRun })
  expect(calls).toEqual(['allocate', 'store', 'rollback'])
})

test('the allocation of an object that admission refuses is rolled back', async () => {
  expect(await write('stored', { refusal: internalError('the webhook failed') })).toMatch('the webhook failed')
  expect(calls).toEqual(['allocate', 'rollback'])
})

test.each([
  internalError('the store did not answer'),
  statusOf(new StorageError('outcome-unknown', 'the store did not answer'), 0),
])('if it is not known whether the object was stored, nothing is released', async outcome => {
  await write(outcome)
  expect(calls).toEqual(['allocate', 'store'])
})

test('an error of the allocation is reported in place of others', async () => {
  expect(await write('stored', { errors: ['is taken'] })).toBe(
    'Note "a" is invalid: spec.number: Invalid value: 7: is taken',
  )
  expect(calls).toEqual(['allocate'])
})

test('a subresource allocates nothing', async () => {
  await write('stored', { subresource: 'status' })
  expect(calls).toEqual(['store'])
})
