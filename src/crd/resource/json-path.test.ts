import { describe, expect, it } from 'vitest'
import type { Value } from '../../meta/values/value.js'
import { PathError, parseJsonPath } from './json-path.js'

const OBJECT: Value = {
  spec: {
    list: [
      { name: 'a', n: 1, on: true },
      { name: 'b', n: 2 },
    ],
    'with.dot': 'x',
    text: 'abc',
    none: null,
  },
}

function find(path: string): Value[] {
  const parsed = parseJsonPath(path)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value(OBJECT)
}

describe('a path leads to', () => {
  it.each<[string, Value[]]>([
    ['.spec.text', ['abc']],
    ['.spec.missing', []],
    ['.spec.text.below', []],
    ['.spec.none', [null]],
    ['.spec.none.below', []],
    ['.spec.with\\.dot', ['x']],
    [".spec['text']", ['abc']],
    ['.spec.list[0].name', ['a']],
    ['.spec.list[-1].name', ['b']],
    ['.spec.list[*].name', ['a', 'b']],
    ['.spec.list[0:2:2].name', ['a']],
    ['.spec.list[0,1].n', [1, 2]],
    ['.spec.list[?(@.name=="b")].n', [2]],
    ['.spec.list[?(@.n>1)].name', ['b']],
    ['.spec.list[?(@.on)].name', ['a']],
    ['..name', ['a', 'b']],
    ['.spec.text}', ['abc']],
  ])('%s', (path, found) => expect(find(path)).toEqual(found))
})

describe('a path cannot be read', () => {
  it.each(['.spec[', '.spec[x]', '.spec.list[?(@.x==]', '.spec.x | length', '.a....b'])('%s', path =>
    expect(parseJsonPath(path).ok).toBe(false),
  )
})

describe('a path cannot be walked', () => {
  it.each(['.spec.text[0]', '.spec.list[5]', '.spec.list[?(@.name==1)]', '.spec.list[0:1:0]', 'word'])('%s', path =>
    expect(() => find(path)).toThrow(PathError),
  )
})
