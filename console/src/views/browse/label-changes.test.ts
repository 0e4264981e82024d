import { expect, test } from 'vitest'
import { parseLabelChanges } from './label-changes.js'

test.each([
  ['', {}],
  ['team=red', { team: 'red' }],
  ['team= tier-', { team: '', tier: null }],
  ['example.com/a=b,x=1', { 'example.com/a': 'b', x: '1' }],
])('%o', (text, changes) => {
  expect(parseLabelChanges(text)).toEqual({ changes })
})

test('a word that is neither is named', () => {
  expect(parseLabelChanges('a=b team').problem).toContain('team')
})
