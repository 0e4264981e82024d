import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Logger } from '../base/logger.js'
import { createMemoryStore } from '../storage/memory/memory-store.js'
import type { Store } from '../storage/store.js'
import { type Informer, startInformer } from './informer.js'

let store: Store
let informer: Informer
/** What the handler cannot read. */
let unreadable: string
let read: Map<string, string>
let errors: number
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  store = createMemoryStore()
  unreadable = 'sealed'
  read = new Map()
  errors = 0
  for (const name of ['a', 'b', 'c']) await store.create(`/things/${name}`, Buffer.from(name === 'b' ? 'sealed' : name))
  let fresh = read
  const put = (to: Map<string, string>, key: string, value: Buffer | undefined): void => {
    if (value?.toString() === unreadable) throw new Error('sealed')
    if (value) to.set(key, value.toString())
    else to.delete(key)
  }
  informer = startInformer(
    store,
    '/things/',
    {
      begin: () => void (fresh = new Map()),
      entry: ({ key, value }) => put(fresh, key, value),
      complete: () => void (read = fresh),
      event: ({ key, value }) => put(read, key, value),
    },
    { error: () => void errors++, warn() {} } as unknown as Logger,
  )
  await informer.started
})
afterEach(async () => {
  informer.stop()
  vi.useRealTimers()
  await store.close()
})

const names = () => [...read.keys()].map(key => key.slice('/things/'.length))

test('what cannot be read is left out, and read when it can be, also if nothing is written', async () => {
  expect(names()).toEqual(['a', 'c'])
  expect([...informer.unreadable]).toEqual(['/things/b'])
  await vi.advanceTimersByTimeAsync(60_000)
  // Tried several times, and logged once.
  expect(errors).toBe(1)
  expect([...informer.unreadable]).toEqual(['/things/b'])
  unreadable = ''
  await vi.advanceTimersByTimeAsync(60_000)
  expect(names()).toEqual(['a', 'b', 'c'])
  expect(informer.unreadable.size).toBe(0)
  await store.create('/things/d', Buffer.from('d'))
  expect(names()).toEqual(['a', 'b', 'c', 'd'])
})

test('what cannot be read when it is written is tried again, too', async () => {
  await store.update('/things/b', Buffer.from('b'), 2)
  expect(informer.unreadable.size).toBe(0)
  await store.update('/things/c', Buffer.from('sealed'), 3)
  expect([...informer.unreadable]).toEqual(['/things/c'])
  unreadable = ''
  await vi.advanceTimersByTimeAsync(60_000)
  expect(informer.unreadable.size).toBe(0)
  expect(read.get('/things/c')).toBe('sealed')
  // Nothing is left to be tried.
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(vi.getTimerCount()).toBe(0)
})

test('all pages are of one revision, whatever is written between them; later writes are events', async () => {
  const pages: number[] = []
  const log: string[] = []
  for (let i = 10; i < 60; i++) await store.create(`/many/${i}`, Buffer.from('x'))
  const last = (await store.get('/many/59'))!
  const source: Store = {
    ...store,
    async range(prefix, options) {
      const page = await store.range(prefix, options)
      if (pages.push(page.entries.length) > 1) return page
      await store.delete('/many/59', last.revision)
      await store.create('/many/60', Buffer.from('x'))
      return page
    },
  }
  const paged = startInformer(source, '/many/', {
    entry: ({ key }) => void log.push(key),
    complete: () => void log.push('complete'),
    event: ({ key, value }) => void log.push(`${value ? 'put' : 'delete'} ${key}`),
  })
  await paged.started
  await expect.poll(() => log.at(-1)).toBe('put /many/60')
  paged.stop()
  expect(pages.length).toBeGreaterThan(1)
  const before = Array.from({ length: 50 }, (_, i) => `/many/${10 + i}`)
  expect(log).toEqual([...before, 'complete', 'delete /many/59', 'put /many/60'])
})
