import { expect, test } from 'vitest'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { parseSchema } from '../structure/structural.js'
import { type CompiledRule, compileRules } from './compile-rules.js'

/** The rules of a property `a` and of a property `b`. */
function compiled(a: ValueObject, b: ValueObject): readonly [CompiledRule, CompiledRule] {
  const { properties } = compileRules(parseSchema({ type: 'object', properties: { a, b } }))!
  return [properties.get('a')!.rules[0]!, properties.get('b')!.rules[0]!]
}

const withRule = (schema: ValueObject, rule: ValueObject): ValueObject => ({
  ...schema,
  'x-kubernetes-validations': [rule],
})
const object = (properties: Value): ValueObject => ({ type: 'object', properties })
const NAMED = object({ name: { type: 'string', maxLength: 10 } })

test('a rule on types that look the same is compiled once, and keeps its own message', () => {
  const [a, b] = compiled(
    withRule(NAMED, { rule: "self.name == 'x'", message: 'of a' }),
    withRule(NAMED, { rule: "self.name == 'x'", message: 'of b' }),
  )
  expect(a.program).toBe(b.program)
  expect([a.rule.message, b.rule.message]).toEqual(['of a', 'of b'])
  expect(a.maxCost).toBe(b.maxCost)
})

test.each([
  ['sizes', object({ name: { type: 'string', maxLength: 11 } }), {}],
  ['properties', object({ name: { type: 'string', maxLength: 10 }, 'other-name': { type: 'string' } }), {}],
  ['types', object({ name: { 'x-kubernetes-int-or-string': true, maxLength: 10 } }), {}],
  ['the old value', NAMED, { optionalOldSelf: true }],
  ['the message', NAMED, { messageExpression: "'not ' + self.name" }],
])('not if %s differ', (_, other, more) => {
  const rule = { rule: "self.name == 'x'" }
  const [a, b] = compiled(withRule(NAMED, rule), withRule(other, { ...rule, ...more }))
  expect([a.error, b.error]).toEqual([undefined, undefined])
  expect(a.program).not.toBe(b.program)
})

test('what is wrong is told of each type by its name', () => {
  const [a, b] = compiled(withRule(NAMED, { rule: 'self > 1' }), withRule(NAMED, { rule: 'self > 1' }))
  expect(a.error).toContain('selfType.a')
  expect(b.error).toContain('selfType.b')
})
