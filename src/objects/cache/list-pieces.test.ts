import { expect, test } from 'vitest'
import { type ListPiece, replaceItems } from './list-pieces.js'

const item = (text: string) => Buffer.from(`,${text}`)
const piece = (...keys: string[]): ListPiece => ({
  bytes: Buffer.concat(keys.map(item)),
  keys,
  starts: keys.map((_, i) => i * 2),
})
const textsOf = (pieces: readonly ListPiece[]) => pieces.map(({ bytes }) => bytes.toString())

test.each([
  ['one is replaced', { b: 'B' }, [',a,B', ',d,f']],
  ['some come between, before and behind the others', { '0': '0', c: 'c', z: 'z' }, [',0,a,b', ',c,d,f,z']],
  ['some go', { a: undefined, f: undefined }, [',b', ',d']],
  ['a piece goes with all its items', { a: undefined, b: undefined }, [',d,f']],
  ['what was never there goes without a trace', { c: undefined }, [',a,b', ',d,f']],
  ['nothing changes', {}, [',a,b', ',d,f']],
])('%s', (_, changed: Record<string, string | undefined>, expected) => {
  const pieces = [piece('a', 'b'), piece('d', 'f')]
  const items = new Map(
    Object.entries(changed).map(([key, text]) => [key, text === undefined ? undefined : item(text)]),
  )
  const replaced = replaceItems(pieces, items)
  expect(textsOf(replaced)).toEqual(expected)
  expect(textsOf(pieces)).toEqual([',a,b', ',d,f'])
  // What was replaced can be replaced again.
  const back = replaceItems(replaced, new Map(replaced.flatMap(({ keys }) => keys.map(key => [key, undefined]))))
  expect(textsOf(back)).toEqual([])
})

test('a piece without changes is kept as it is', () => {
  const pieces = [piece('a', 'b'), piece('d', 'f')]
  expect(replaceItems(pieces, new Map([['e', item('e')]]))[0]).toBe(pieces[0])
})

test('an empty list gets its first items, and large pieces are divided', () => {
  const large = Buffer.alloc(50_000, ',x')
  const pieces = replaceItems([], new Map(['c', 'a', 'b', 'd'].map(key => [key, large])))
  expect(pieces.map(({ keys }) => keys)).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
  expect(pieces.map(({ starts }) => starts)).toEqual([
    [0, 50_000],
    [0, 50_000],
  ])
})
