import { describe, expect, test } from 'vitest'
import { widgetKind } from '../../kinds/fake-kinds.suite.js'
import { createKnownLists, type ListState } from './known-lists.js'

const kind = widgetKind()
const versioned = { kind, version: kind.versions[0]! }

const stateOf = (size: number, revision = 1): ListState => ({
  mark: { revision, epoch: 0 },
  pieces: [{ bytes: Buffer.from(new ArrayBuffer(size)), keys: [], starts: [] }],
  end: undefined,
})

test('a list is repeated when it is found again', () => {
  const lists = createKnownLists()
  expect(lists.find(versioned, '/a/', undefined).isRepeated).toBe(false)
  expect(lists.find(versioned, '/a/', undefined).isRepeated).toBe(true)
  expect(lists.find(versioned, '/a/', 5).isRepeated).toBe(false)
  expect(lists.find(versioned, '/b/', undefined).isRepeated).toBe(false)
})

test('a list that is too long is tried again after a while', () => {
  const lists = createKnownLists(100)
  const isTried = () => lists.find(versioned, '/a/', undefined).isRepeated
  expect([isTried(), isTried()]).toEqual([false, true])
  for (const give of [() => lists.find(versioned, '/a/', undefined).keep(stateOf(101)), gatherTooMuch]) {
    give()
    const tries = Array.from({ length: 30 }, isTried)
    expect(tries.indexOf(true)).toBe(20)
    expect(tries.lastIndexOf(false)).toBe(19)
  }
  function gatherTooMuch() {
    let isDropped = false
    const gathering = lists.find(versioned, '/a/', undefined).gather(() => (isDropped = true))!
    gathering.add(100)
    expect(isDropped).toBe(false)
    gathering.add(1)
    expect(isDropped).toBe(true)
  }
})

test('a state takes the place of an earlier one, and a change of the kind drops it', () => {
  const lists = createKnownLists()
  const list = lists.find(versioned, '/a/', undefined)
  list.keep(stateOf(10, 5))
  list.keep(stateOf(10, 4))
  expect(list.state?.mark.revision).toBe(5)
  list.keep(stateOf(10, 6))
  expect(list.state?.mark.revision).toBe(6)
  expect(lists.find({ ...versioned, kind: widgetKind() }, '/a/', undefined).state).toBeUndefined()
  list.keep(stateOf(10, 7))
  expect(list.state).toBeUndefined()
})

test('of a kind that is retired no list is kept, even if a request that began before finds it', () => {
  const lists = createKnownLists(100)
  const replaced = widgetKind()
  const other = lists.find({ kind: replaced, version: replaced.versions[0]! }, '/b/', undefined)
  const list = lists.find(versioned, '/a/', undefined)
  for (const each of [list, other]) each.keep(stateOf(50))
  lists.retire(kind.versions)
  expect(list.state).toBeUndefined()
  expect(other.state).toBeDefined()
  const late = lists.find(versioned, '/b/', undefined)
  late.keep(stateOf(10))
  expect(late.state).toBeUndefined()
  expect(lists.find(versioned, '/b/', undefined).isRepeated).toBe(false)
  expect(lists.find({ kind: replaced, version: replaced.versions[0]! }, '/b/', undefined).state).toBeDefined()
})

test('the list that was not requested for the longest time makes room', () => {
  const lists = createKnownLists(100)
  for (const prefix of ['/a/', '/b/']) lists.find(versioned, prefix, undefined).keep(stateOf(40))
  lists.find(versioned, '/a/', undefined).keep(stateOf(50, 2))
  lists.find(versioned, '/c/', undefined).keep(stateOf(40))
  lists.find(versioned, '/d/', undefined).keep(stateOf(101))
  const isKept = (prefix: string) => lists.find(versioned, prefix, undefined).state !== undefined
  expect(['/a/', '/b/', '/c/', '/d/'].map(isKept)).toEqual([true, false, true, false])
})

describe('the items in another format', () => {
  const form = (size: number) => ({ size })

  test('are kept beside a piece as long as the list has it, and count as its memory', () => {
    const lists = createKnownLists(100)
    const other = lists.find(versioned, '/b/', undefined)
    other.keep(stateOf(30))
    const list = lists.find(versioned, '/a/', undefined)
    const state = stateOf(30)
    list.keep(state)
    const [piece] = state.pieces
    list.addForm(piece!, 'cbor', form(35))
    list.addForm(piece!, 'cbor', form(1))
    expect(piece!.forms).toEqual(new Map([['cbor', form(35)]]))
    expect(other.state).toBeDefined()
    list.addForm(piece!, 'table', form(20))
    expect(other.state).toBeUndefined()
    // The list would be larger than all lists may be.
    list.addForm(piece!, 'protobuf', form(16))
    expect([...piece!.forms!.keys()]).toEqual(['cbor', 'table'])
    expect(list.state).toBe(state)
  })

  test('are not kept of a piece that was replaced', () => {
    const lists = createKnownLists()
    const list = lists.find(versioned, '/a/', undefined)
    const before = stateOf(10, 5)
    list.keep(before)
    list.keep(stateOf(10, 6))
    list.addForm(before.pieces[0]!, 'cbor', form(10))
    expect(before.pieces[0]!.forms).toBeUndefined()
  })
})
