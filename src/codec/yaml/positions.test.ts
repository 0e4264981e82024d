import { expect, test } from 'vitest'
import { locateYaml, type Position, type YamlNode } from './positions.js'

const locate = (text: string): YamlNode => locateYaml(Buffer.from(text))!
const at = (node: Position | undefined): string => `${node!.line}:${node!.column}`
const keyAt = (node: YamlNode | undefined): string => at(node!.key)

test('members have the position of their key and of their value', () => {
  const root = locate('a: 1\nspec:\n  list:\n  - name: x\n    "b c":   2\n  - {k: [1, 22]}\n')
  expect(keyAt(root.members!.get('a'))).toBe('0:0')
  expect(at(root.members!.get('a'))).toBe('0:3')
  const list = root.members!.get('spec')!.members!.get('list')!
  expect(keyAt(list)).toBe('2:2')
  const [first, second] = list.items!
  expect(at(first)).toBe('3:4')
  expect(keyAt(first!.members!.get('b c'))).toBe('4:4')
  expect(at(first!.members!.get('b c'))).toBe('4:13')
  expect(at(second!.members!.get('k')!.items![1])).toBe('5:12')
})

test('an alias has its own position and the members of its anchor; merged members stand where they are written', () => {
  const root = locate('base: &b\n  x: 1\ncopy: *b\nmore:\n  <<: *b\n  y: 2\n')
  expect(at(root.members!.get('copy'))).toBe('2:6')
  expect(keyAt(root.members!.get('copy')!.members!.get('x'))).toBe('1:2')
  expect(keyAt(root.members!.get('more')!.members!.get('x'))).toBe('1:2')
  expect(keyAt(root.members!.get('more')!.members!.get('y'))).toBe('5:2')
})

test('JSON has positions, too, and an empty document has none', () => {
  expect(at(locate('{\n  "a": {"b": null}\n}').members!.get('a')!.members!.get('b'))).toBe('1:13')
  expect(locateYaml(Buffer.from('# nothing\n'))).toBeUndefined()
})
