import { expect, test } from 'vitest'
import { createEventLog, MAX_EVENTS, printEvents } from './event-log.js'

const object = (name: string, value: number) => ({
  metadata: { name, namespace: 'a', resourceVersion: String(value) },
  spec: { value },
})

test('an event has what it changed since the last state that is known', () => {
  const log = createEventLog(run => run())
  log.know([object('x', 1)], true)
  log.add({ type: 'MODIFIED', object: object('x', 2) })
  log.add({ type: 'BOOKMARK', object: object('', 9) })
  log.add({ type: 'MODIFIED', object: object('x', 3) })
  log.add({ type: 'DELETED', object: object('x', 3) })
  log.add({ type: 'ADDED', object: object('x', 4) })
  const steps = log.events().map(({ type, changes: [change] }) => [type, change?.before, change?.after])
  expect(steps).toEqual([
    ['MODIFIED', 1, 2],
    ['MODIFIED', 2, 3],
    ['DELETED', undefined, undefined],
    ['ADDED', undefined, undefined],
  ])
  expect(printEvents(log.events()).split('\n')).toHaveLength(5)
})

test('the page is drawn once for many events, and the number that is kept is bounded', () => {
  const due: (() => void)[] = []
  const log = createEventLog(run => void due.push(run))
  for (let i = 0; i < 3 * MAX_EVENTS; i++) log.add({ type: 'ADDED', object: object(`o${i}`, i) })
  expect(due).toHaveLength(1)
  due[0]!()
  expect([log.events().length, log.total(), log.version.value]).toEqual([MAX_EVENTS, 3 * MAX_EVENTS, 1])
})
