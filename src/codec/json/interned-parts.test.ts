import { expect, test } from 'vitest'
import type { ValueObject } from '../../meta/values/value.js'
import { decodeJson, type InternedPosition, ITEMS } from './decode.js'
import { createInternedParts } from './interned-parts.js'

const AT: InternedPosition = { name: 'part', within: ['head', 'list', ITEMS] }
const parts = createInternedParts()
const printPart = (value: ValueObject): string => parts.print(value)
const decode = (text: string, from = parts): ValueObject =>
  decodeJson(Buffer.from(text), { interned: { parts: from, at: AT } }).value as ValueObject
const within = (part: string): string => `{"head":{"list":[{"part":${part},"next":1}]}}`
const partIn = (object: ValueObject): unknown => ((object['head'] as ValueObject)['list'] as ValueObject[])[0]!['part']

const long = (name: string): ValueObject => ({ [name]: { text: `"}{\\ ${'x'.repeat(100)}`, deep: { er: {} } } })

test.each([[{}], [{ a: { b: {} } }], [long('one')]])(
  'a part that was printed is read as the very same value: %j',
  value => {
    const text = printPart(value)
    expect(text).toBe(JSON.stringify(value))
    const read = decode(within(text))
    expect(partIn(read)).toBe(value)
    expect(read).toEqual(JSON.parse(within(text)))
  },
)

test('parts with the same beginning are distinguished', () => {
  const [first, second] = [
    { ...long('same'), z: 1 },
    { ...long('same'), z: 12 },
  ]
  const [a, b] = [printPart(first), printPart(second)]
  expect(partIn(decode(within(a)))).toBe(first)
  expect(partIn(decode(within(b)))).toBe(second)
  expect(partIn(decode(within(a)))).toBe(first)
})

test('nothing is shared at any other position', () => {
  const value = long('place')
  const text = printPart(value)
  for (const other of [
    `{"part":${text}}`,
    `{"head":{"part":${text}}}`,
    `{"head":{"list":{"a":{"part":${text}}}}}`,
    `{"head":[{"list":{"part":${text}}}]}`,
    `{"head":{"list":[[{"part":${text}}]]}}`,
    `{"other":{"list":[{"part":${text}}]}}`,
    `{"head":{"list":[{"trap":${text}}]}}`,
  ]) {
    const read = decode(other)
    expect(read).toEqual(JSON.parse(other))
    expect(holds(read, value)).toBe(false)
  }
})

const holds = (root: unknown, part: unknown): boolean =>
  root === part || (typeof root === 'object' && root !== null && Object.values(root).some(each => holds(each, part)))

test('truncated text is still an error', () => {
  const text = within(printPart(long('cut')))
  for (const end of [30, 60, text.length - 12, text.length - 1]) {
    expect(() => decode(text.slice(0, end))).toThrow('unexpected end of JSON input')
  }
})

test('parts that are not used are evicted', () => {
  const first = long('first')
  const text = printPart(first)
  for (let i = 0; i < 40; i++) printPart({ [`filler-${i}`]: 'x'.repeat(100_000) })
  const read = partIn(decode(within(text)))
  expect(read).toEqual(first)
  expect(read).not.toBe(first)
})

test('parts in use stay', () => {
  const first = long('stays')
  const text = printPart(first)
  for (let i = 0; i < 40; i++) {
    printPart({ [`more-${i}`]: 'x'.repeat(100_000) })
    expect(partIn(decode(within(text)))).toBe(first)
  }
})

test('the parts of another server are not seen', () => {
  const value = long('mine')
  const text = printPart(value)
  const read = partIn(decode(within(text), createInternedParts()))
  expect(read).toEqual(value)
  expect(read).not.toBe(value)
})
