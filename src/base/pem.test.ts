import { expect, test } from 'vitest'
import { pemBlocks } from './pem.js'

const block = (label: string, body: string): string => `-----BEGIN ${label}-----\n${body}-----END ${label}-----`
const found = (pem: string): [label: string, content: string][] =>
  pemBlocks(pem).map(({ label, content }) => [label, content.toString('latin1')])
const YES = block('Y', 'eWVz\n')

test.each<[what: string, pem: string, blocks: [label: string, content: string][]]>([
  ['none', 'text', []],
  [
    'several, with text around them',
    `a\n${block('A B', 'YQ==\n')}\nb\n${block('C', '')}`,
    [
      ['A B', 'a'],
      ['C', ''],
    ],
  ],
  ['line breaks of Windows', '-----BEGIN A-----\r\nYQ==\r\n-----END A-----\r\n', [['A', 'a']]],
  ['blanks at the ends of lines', '-----BEGIN A----- \t\nYQ= = \n-----END A----- \t\r\n', [['A', 'a']]],
  ['a beginning within a block', `-----BEGIN A-----\nx\n${block('A', 'YQ==\n')}`, [['A', 'a']]],
])('the blocks of a text with %s', (_, pem, blocks) => {
  expect(found(pem)).toEqual(blocks)
})

test.each([
  ['an end of another label', '-----BEGIN A-----\nYQ==\n-----END B-----\n'],
  ['an end of another label, and a second one', '-----BEGIN A-----\nYQ==\n-----END B-----\n-----END A-----\n'],
  ['marks that begin no line', ` ${block('A', 'YQ==\n')}\n`],
  ['a beginning within a line of the block', `-----BEGIN A-----\nx${block('A', 'YQ==\n')}\n`],
  ['a first line that goes on', '-----BEGIN A-----x\n-----END A-----\n'],
  ['a last line that goes on', `${block('A', 'YQ==\n')}x\n`],
  ['a character that is not of base64', `${block('A', '!YQ==\n')}\n`],
  ['a character of the base64 of URLs', `${block('A', 'Y_8=\n')}\n`],
  ['no padding', `${block('A', 'YQ\n')}\n`],
  ['too much padding', `${block('A', 'YQ===\n')}\n`],
  ['text after the padding', `${block('A', 'YQ==\nYQ==\n')}\n`],
  ['a space that only Unicode knows', `${block('A', 'YQ==\u00a0\n')}\n`],
])('a block is skipped for %s, and the next one is read', (_, pem) => {
  expect(found(pem + YES)).toEqual([['Y', 'yes']])
})

test('lines with a colon are headers, also without an empty line after them', () => {
  const pem = ['', 'X: y\n\n', 'X: y\n'].map(headers => block('A', `${headers}YQ==\n`)).join('\n')
  expect(pemBlocks(pem).map(({ hasHeaders, content }) => [hasHeaders, content.toString()])).toEqual([
    [false, 'a'],
    [true, 'a'],
    [true, 'a'],
  ])
})

test.each([
  ['lines that only begin a block', '-----BEGIN A-----\n'.repeat(150_000)],
  ['blocks that end as others', '-----BEGIN A-----\n-----END B-----\n'.repeat(75_000)],
  ['headers', `-----BEGIN A-----\n${'a: b\n'.repeat(150_000)}-----END B-----\n`],
])('a block is found after very many %s', (_, pem) => {
  expect(found(pem + YES)).toEqual([['Y', 'yes']])
})
