import { expect, test } from 'vitest'
import { pemTexts } from './pem.js'

const block = (label: string, body: string): string => `-----BEGIN ${label}-----\n${body}-----END ${label}-----`
const found = (pem: string): [string, string][] => pemTexts(pem).map(({ label, body }) => [label, body])

test.each<[what: string, pem: string, blocks: [label: string, body: string][]]>([
  ['none', 'text', []],
  [
    'several, with text around them',
    `a\n${block('A B', 'YQ==\n')}\nb\n${block('C', '')}`,
    [
      ['A B', 'YQ==\n'],
      ['C', ''],
    ],
  ],
  ['line breaks of Windows', '-----BEGIN A-----\r\nYQ==\r\n-----END A-----\r\n', [['A', 'YQ==\r\n']]],
  ['a beginning within a block', `-----BEGIN A-----\nx\n${block('A', 'YQ==\n')}`, [['A', 'YQ==\n']]],
  ['an end of another label', '-----BEGIN A-----\nx\n-----END B-----\n-----END A-----', []],
  ['marks that begin no line', ` ${block('A', 'YQ==\n')}`, []],
  ['a first line that goes on', '-----BEGIN A-----x\n-----END A-----', []],
])('the blocks of a text with %s', (_, pem, blocks) => {
  expect(found(pem)).toEqual(blocks)
})

test('a block is found after very many lines that only begin one', () => {
  const pem = `${'-----BEGIN A-----\n'.repeat(150_000)}${block('B', 'YQ==\n')}`
  expect(found(pem)).toEqual([['B', 'YQ==\n']])
})

test('a block has its lines', () => {
  expect(pemTexts(`a\n${block('A', 'YQ==\n')}\nb`).map(({ whole }) => whole)).toEqual([block('A', 'YQ==\n')])
})
