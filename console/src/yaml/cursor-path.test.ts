import { expect, test } from 'vitest'
import { contextAt } from './cursor-path.js'

/** The text with `|` where the cursor is. */
function at(text: string) {
  const offset = text.indexOf('|')
  const before = text.slice(0, offset).split('\n')
  return contextAt(text.replace('|', '').split('\n'), before.length - 1, before.at(-1)!.length)
}

test.each([
  ['|', [], 'key', ''],
  ['ki|', [], 'key', 'ki'],
  ['kind: Po|', ['kind'], 'value', 'Po'],
  ['spec:\n  si|', ['spec'], 'key', 'si'],
  ['spec:\n  |', ['spec'], 'key', ''],
  ['spec:\n  size: |', ['spec', 'size'], 'value', ''],
  ['spec:\n  a: 1\nsta|', [], 'key', 'sta'],
  ['spec:\n  cargo:\n  - na|', ['spec', 'cargo', 0], 'key', 'na'],
  ['spec:\n  cargo:\n  - name: coal\n    to|', ['spec', 'cargo', 0], 'key', 'to'],
  ['spec:\n  cargo:\n  - name: coal\n  - name: |', ['spec', 'cargo', 1, 'name'], 'value', ''],
  ['spec:\n  cargo:\n    - name: coal\n      tons: 1\n    - ha|', ['spec', 'cargo', 1], 'key', 'ha'],
  ['spec:\n  cargo:\n  - name: coal\n  cr|', ['spec'], 'key', 'cr'],
  [
    'spec:\n  containers:\n  - name: a\n    env:\n    - name: X\n      va|',
    ['spec', 'containers', 0, 'env', 0],
    'key',
    'va',
  ],
  ['a:\n  # comment: here\n\n  b|', ['a'], 'key', 'b'],
  ['metadata:\n  labels:\n    "a.b/c": |', ['metadata', 'labels', 'a.b/c'], 'value', ''],
])('%o', (text, path, writing, typed) => {
  expect(at(text)).toMatchObject({ path, writing, typed })
})

test('keys that are there already are known', () => {
  expect([...at('spec:\n  a: 1\n  |\n  b: 2\nstatus: {}').siblings]).toEqual(['a', 'b'])
  expect([...at('c:\n- x: 1\n  y: 2\n- x: 3\n  |').siblings]).toEqual(['x'])
})
