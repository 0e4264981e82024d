import { expect, test } from 'vitest'
import { metaOf } from '../meta/object/object-meta.js'
import { createMemoryStore } from '../storage/memory-store.js'
import { untransformable } from '../storage/untransformable.js'
import { startInformer } from './informer.js'
import { decodeStored } from './stored-object.js'

const entry = (value: Buffer) => ({ key: '/secrets/a/b', value, revision: 7 })

test('a damaged value is a Status with the reason', () => {
  expect(() => decodeStored(entry(Buffer.from('{"kind":')))).toThrow(/^Internal error occurred: unexpected end/)
})

test('a value that cannot be decrypted is a Status with the reason', () => {
  const value = untransformable('/registry/secrets/a/b', 'no matching prefix found')
  expect(() => decodeStored(entry(value))).toThrow('Internal error occurred: no matching prefix found')
})

test('an informer leaves out what cannot be read, until it is written again', async () => {
  const store = createMemoryStore()
  const object = (name: string) => Buffer.from(JSON.stringify({ apiVersion: 'v1', kind: 'A', metadata: { name } }))
  await store.create('/as/bad', Buffer.from('no object'))
  await store.create('/as/good', object('good'))
  const read: string[] = []
  const keep = (key: string, value: Buffer) => read.push(metaOf(decodeStored({ key, value, revision: 0 })).name ?? '')
  const informer = startInformer(store, '/as/', {
    entry: ({ key, value }) => keep(key, value),
    event: ({ key, value }) => value && keep(key, value),
  })
  await informer.started
  expect(read).toEqual(['good'])
  expect([...informer.unreadable]).toEqual(['/as/bad'])
  await store.update('/as/bad', object('bad'), 1)
  await expect.poll(() => read).toEqual(['good', 'bad'])
  expect(informer.unreadable.size).toBe(0)
  informer.stop()
  await store.close()
})
