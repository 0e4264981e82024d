import { expect, test } from 'vitest'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { parseSchema } from '../structure/structural.js'
import { compileRules } from './compile-rules.js'
import { RuleCompiler } from './rule-compiler.js'

const rules = (...written: (string | ValueObject)[]): Value =>
  written.map(rule => (typeof rule === 'string' ? { rule } : rule))
const treeOf = (schema: ValueObject) => compileRules(parseSchema({ type: 'object', ...schema }), new RuleCompiler())

test('a schema without rules has no tree', () => {
  expect(treeOf({ properties: { a: { type: 'string' } } })).toBeUndefined()
})

test('the tree has the nodes that lead to rules, and no others', () => {
  const tree = treeOf({
    properties: {
      plain: { type: 'string' },
      list: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: { type: 'integer', 'x-kubernetes-validations': rules('self > 0') },
        },
      },
    },
  })!
  expect(tree.rules).toEqual([])
  expect([...tree.properties.keys()]).toEqual(['list'])
  const values = tree.properties.get('list')!.items!.additionalProperties!
  expect(values.rules.map(({ error, program }) => [error, program?.evaluate({ self: 1 }).value])).toEqual([
    [undefined, true],
  ])
})

test('what is wrong with a rule is kept with it', () => {
  const [bool, name, constant, message] = treeOf({
    'x-kubernetes-validations': rules("'a'", 'selv == 1', "duration('x') == duration('1s')", {
      rule: 'self == oldSelf',
      messageExpression: '1',
    }),
  })!.rules
  expect(bool?.error).toBe('cel expression must evaluate to a bool')
  expect(name?.error).toMatch(/^compilation failed: ERROR: <input>:1:1: undeclared reference to 'selv'/)
  expect(constant?.error).toMatch(/^compilation failed: .*invalid duration argument/)
  expect(message).toMatchObject({ messageError: 'messageExpression must evaluate to a string', usesOldSelf: true })
  expect(message?.program).toBeDefined()
})

test('an optional old value has the type of one', () => {
  const [rule] = treeOf({
    properties: { a: { type: 'integer' } },
    'x-kubernetes-validations': rules({ rule: 'oldSelf.orValue(self).a == self.a', optionalOldSelf: true }),
  })!.rules
  expect(rule).toMatchObject({ usesOldSelf: true })
  expect(rule?.error).toBeUndefined()
})

test('a property whose name rules cannot spell has rules of its own', () => {
  const schema = {
    type: 'object',
    properties: { b: { type: 'integer' } },
    'x-kubernetes-validations': rules('self.b > 0'),
  }
  const node = treeOf({ properties: { '1a': schema, '2a': { ...schema, properties: {} } } })!
  expect(node.properties.get('1a')!.rules[0]?.error).toBeUndefined()
  expect(node.properties.get('2a')!.rules[0]?.error).toMatch(/undefined field 'b'/)
})

test('rules below what is hidden compile', () => {
  const hidden = {
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { b: { type: 'integer', 'x-kubernetes-validations': rules('self > 0') } },
  }
  const node = treeOf({ properties: { hidden } })!.properties.get('hidden')!
  expect(node.declared).toBeUndefined()
  expect(node.properties.get('b')!.rules[0]?.program).toBeDefined()
})
