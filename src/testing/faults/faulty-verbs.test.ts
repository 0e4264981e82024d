import { expect, test } from 'vitest'
import type { Request } from '../../request/request.js'
import type { Target } from '../../request/target.js'
import type { Verbs } from '../../verbs/verbs.js'
import type { EventSink, PreparedWatch } from '../../verbs/watch.js'
import { createFaults } from './faults.js'
import { faultyVerbs } from './faulty-verbs.js'
import { faultyWatch } from './faulty-watch.js'

const request = { info: { verb: 'list', path: '/api/v1/pods' }, user: { name: 'jane' } } as unknown as Request
const target = { kind: { names: { kind: 'Pod' } } } as unknown as Target

test.each([
  ['', 'resourceVersion=45&resourceVersionMatch=Exact'],
  ['limit=2&resourceVersion=0', 'limit=2&resourceVersion=45&resourceVersionMatch=Exact'],
  ['resourceVersion=48', 'resourceVersion=48'],
  ['continue=x', 'continue=x'],
])('a list %j that is 5 writes behind revision 50 is answered as %j', async (sent, expected) => {
  const faults = createFaults(() => 0)
  faults.inject({ verb: 'list', behind: 5 })
  let asked = ''
  const verbs = {
    list: (_request: unknown, _target: unknown, query: URLSearchParams) => void (asked = String(query)),
  } as unknown as Verbs
  await faultyVerbs(verbs, faults, async () => 50).list(request, target, new URLSearchParams(sent))
  expect(asked).toBe(expected)
})

test('a Scale is answered as it is now: it is computed from an object', async () => {
  const faults = createFaults(() => 0)
  faults.inject({ verb: 'get', behind: 5 })
  const verbs = { get: () => 'the Scale' } as unknown as Verbs
  const get = { ...request, info: { ...request.info, verb: 'get' } } as Request
  const scale = { ...target, subresource: 'scale' } as unknown as Target
  expect(await faultyVerbs(verbs, faults, async () => 50).get(get, scale, new URLSearchParams())).toBe('the Scale')
})

test('bookmarks are withheld, but not the one after the initial events', () => {
  const sent: string[] = []
  const sink = {
    event: () => sent.push('event') > 0,
    bookmark: (revision: number, initial: boolean) => sent.push(`${revision}${initial ? ' initial' : ''}`) > 0,
    end: () => sent.push('end'),
  } as unknown as EventSink
  let given!: EventSink
  const watch = {
    start(to: EventSink) {
      given = to
      return { resume() {}, stop() {} }
    },
  } as unknown as PreparedWatch
  faultyWatch(watch, { withholdBookmarks: true }).start(sink)
  given.bookmark(1, true)
  given.event(...([] as unknown as Parameters<EventSink['event']>))
  given.bookmark(2, false)
  given.end()
  expect(sent).toEqual(['1 initial', 'event', 'end'])
})
