import { describe, expect, it } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { parseSchema } from '../structure/structural.js'
import { checkRules } from './check-rules.js'
import { compileRules } from './compile-rules.js'
import { RuleCompiler } from './rule-compiler.js'

function errors(properties: ValueObject, isUnchanged = false): string[] {
  const root = compileRules(parseSchema({ type: 'object', properties }), new RuleCompiler())!
  return checkRules(root, 'schema', { skip: new Set(), isUnchanged }).map(printFieldError)
}

const ADVICE =
  '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)'
const rule = (text: string): ValueObject => ({ 'x-kubernetes-validations': [{ rule: text }] })
const ints = (maxItems: number, ...rules: string[]): ValueObject => ({
  type: 'array',
  items: { type: 'integer' },
  maxItems,
  'x-kubernetes-validations': rules.map(text => ({ rule: text })),
})

describe('the cost of a rule', () => {
  it('counts as often as lists and maps around it allow', () => {
    const list = (maxItems: number) => ({ type: 'array', maxItems, items: { type: 'integer', ...rule('self > 0') } })
    expect(errors({ l: list(5_000_000) })).toEqual([])
    expect(errors({ l: list(5_000_001) })).toEqual([
      `schema.properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.000000x ${ADVICE}`,
    ])
    const map = { type: 'object', maxProperties: 20, additionalProperties: list(500_000) }
    expect(errors({ m: map })).toEqual([
      `schema.properties[m].additionalProperties.items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 2.0x ${ADVICE}`,
    ])
  })

  it('counts as often as values fit into a request where nothing limits them', () => {
    const text = { type: 'string', maxLength: 20, ...rule('self.matches("^a+$")') }
    // A million strings of at least `"",`.
    expect(errors({ l: { type: 'array', items: text } })).toEqual([
      `schema.properties[l].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.048576x ${ADVICE}`,
    ])
  })

  it('of a schema that was there before is only counted in the total', () => {
    const properties = { l: ints(3_000_000, 'self.all(x, x > 0)') }
    expect(errors(properties)).toHaveLength(1)
    expect(errors(properties, true)).toEqual([])
    expect(errors({ l: ints(30_000_000, 'self.all(x, x > 0)') }, true)).toEqual([
      'schema.properties[l].x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      `schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.5x ${ADVICE}`,
    ])
  })

  it('is named in the total for the four that cost most', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`l${i}`, ints(1_900_000 + i, 'self.all(x, x > 0)')]),
    )
    expect(errors(properties).map(error => error.replace(/\.x-.*/, ''))).toEqual([
      'schema.properties[l11]',
      'schema.properties[l10]',
      'schema.properties[l9]',
      'schema.properties[l8]',
      `schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.140004x ${ADVICE}`,
    ])
  })
})

describe('a rule', () => {
  it('cannot speak of the old value of an item that cannot be followed', () => {
    const item = { type: 'object', properties: { k: { type: 'string' } }, ...rule('self == oldSelf') }
    const list = { type: 'array', items: item, maxItems: 5 }
    const why = 'oldSelf cannot be used on the uncorrelatable portion of the schema within schema.properties[l]'
    expect(errors({ l: list })).toEqual([
      `schema.properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": ${why}`,
    ])
    const followed = { ...list, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }
    expect(errors({ l: followed })).toEqual([])
  })

  it('cannot stand where, or below where, rules around it see nothing', () => {
    const inner = { type: 'integer', ...rule('self > 0') }
    const hidden = { 'x-kubernetes-preserve-unknown-fields': true, properties: { inner } }
    const why =
      'Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations'
    expect(errors({ hidden: { ...hidden, ...rule('true') } })).toEqual([
      `schema.properties[hidden].properties[inner].x-kubernetes-validations: ${why}`,
      `schema.properties[hidden].x-kubernetes-validations: ${why}`,
    ])
    expect(errors({ hidden })).toEqual([])
  })
})
