import { describe, expect, test } from 'vitest'
import { EventType, type KeyValue } from './client/messages.js'
import { createKeyLayout } from './etcd-keys.js'
import { hasReliableProgress, toStoreEvent } from './etcd-watch.js'

describe('requested progress', () => {
  test.each([
    ['3.3.27', false],
    ['3.4.23', false],
    ['3.4.30', false],
    ['3.4.31', true],
    ['3.4.31-rc.1', true],
    ['3.5.0', false],
    ['3.5.12', false],
    ['3.5.13', true],
    ['3.5.21+deb', true],
    ['3.6.0', true],
    ['3.6.0-alpha.0', true],
    ['4.0.0', true],
    ['', false],
    ['not a version', false],
  ])('of etcd %s is to be trusted: %s', (version, trusted) => {
    expect(hasReliableProgress(version)).toBe(trusted)
  })
})

describe('an event of etcd', () => {
  const layout = createKeyLayout('/registry')
  const kv = (createRevision: number, modRevision: number, value = 'v'): KeyValue => ({
    key: Buffer.from('/registry/things/a'),
    value: Buffer.from(value),
    createRevision,
    modRevision,
    version: 1,
  })

  test('of a key that was not there is a creation', () => {
    expect(toStoreEvent({ type: EventType.put, kv: kv(5, 5), prevKv: null }, layout)).toEqual({
      revision: 5,
      key: '/things/a',
      value: Buffer.from('v'),
      previous: undefined,
    })
  })

  test('of a key that was there has the previous value', () => {
    const previous = { key: '/things/a', value: Buffer.from('old'), revision: 5 }
    expect(toStoreEvent({ type: EventType.put, kv: kv(5, 6), prevKv: kv(5, 5, 'old') }, layout)).toMatchObject({
      value: Buffer.from('v'),
      previous,
    })
    expect(toStoreEvent({ type: EventType.delete, kv: kv(0, 6, ''), prevKv: kv(5, 5, 'old') }, layout)).toMatchObject({
      value: undefined,
      previous,
    })
  })

  test('is unavailable when the previous value is compacted', () => {
    expect(toStoreEvent({ type: EventType.put, kv: kv(5, 6), prevKv: null }, layout)).toBeUndefined()
    expect(toStoreEvent({ type: EventType.delete, kv: kv(0, 6), prevKv: null }, layout)).toBeUndefined()
  })

  test('need not have the previous value where the receiver knows it', () => {
    const event = { type: EventType.put, kv: kv(5, 6), prevKv: null }
    expect(toStoreEvent(event, layout, true)).toMatchObject({ revision: 6, previous: undefined })
  })
})

describe('a key layout', () => {
  test.each([
    ['/registry', '/registry/things/a'],
    ['registry', '/registry/things/a'],
    ['/registry/', '/registry/things/a'],
    ['/a//b/', '/a/b/things/a'],
    ['/', '/things/a'],
    ['', '/things/a'],
    ['/clé', '/clé/things/a'],
  ])('with the prefix %j has keys at %s', (prefix, expected) => {
    const layout = createKeyLayout(prefix)
    expect(layout.keyOf('/things/a').toString()).toBe(expected)
    expect(layout.pathOf(layout.keyOf('/things/a'))).toBe('/things/a')
  })
})
