import { expect, test } from 'vitest'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { parseSchema } from '../structure/structural.js'
import { compileRules } from './compile-rules.js'
import { RuleCompiler } from './rule-compiler.js'
import type { CompiledRule } from './rule-node.js'

/** The rules of a property `a` and of a property `b`. */
function compiled(
  a: ValueObject,
  b: ValueObject,
  compiler = new RuleCompiler(),
): readonly [CompiledRule, CompiledRule] {
  const { properties } = compileRules(parseSchema({ type: 'object', properties: { a, b } }), compiler)!
  return [properties.get('a')!.rules[0]!, properties.get('b')?.rules[0] as CompiledRule]
}

const withRule = (schema: ValueObject, rule: ValueObject): ValueObject => ({
  ...schema,
  'x-kubernetes-validations': [rule],
})
const object = (properties: Value): ValueObject => ({ type: 'object', properties })
const NAMED = object({ name: { type: 'string', maxLength: 10 } })

test('a rule on equal types is compiled once, and keeps its own message', () => {
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

test('errors name the type of each node', () => {
  const [a, b] = compiled(withRule(NAMED, { rule: 'self > 1' }), withRule(NAMED, { rule: 'self > 1' }))
  expect(a.error).toContain('selfType.a')
  expect(b.error).toContain('selfType.b')
})

test('two compilers share no program', () => {
  const rule = withRule(NAMED, { rule: "self.name == 'x'" })
  const compiler = new RuleCompiler()
  const [first] = compiled(rule, NAMED, compiler)
  expect(compiled(rule, NAMED, compiler)[0].program).toBe(first.program)
  expect(compiled(rule, NAMED)[0].program).not.toBe(first.program)
})
