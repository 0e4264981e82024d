import { expect, test } from 'vitest'
import { type Command, commandGroup } from '../command.js'
import { complete } from './completion.js'
import { flagsIn } from './help-text.js'

const leaf: Command = {
  run: async () => {},
  help: () => 'Usage: x\n\nFlags:\n  --storage=<kind>\n      where --data-dir is\n  --testing\n',
  words: ['save', 'restore'],
}
const program = commandGroup(
  '',
  { serve: async () => leaf, crd: async () => commandGroup('crd', { plan: async () => leaf }, '') },
  '',
)

test.each([
  [[''], ['serve', 'crd']],
  [['se'], ['serve']],
  [['crd', ''], ['plan']],
  [['crd', 'plan', '--st'], ['--storage=']],
  [
    ['serve', '--testing', '-'],
    ['--storage=', '--testing'],
  ],
  [['serve', 're'], ['restore']],
  [
    ['none', ''],
    ['serve', 'crd'],
  ],
])('%j can become %j', async (words, expected) => {
  expect(await complete(program, words)).toEqual(expected)
})

test('flags are found at the beginning of a line, each once', () => {
  expect(flagsIn('Usage: x --not\n  --a=<b>\n    about --c\n  --a=<b>\n  --d\n')).toEqual(['--a=', '--d'])
})
