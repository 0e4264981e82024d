import { expect, test } from 'vitest'
import { RULE_COST_LIMIT } from './cost-limits.js'
import { explainCosts, findRemedies, remedySteps } from './explain-costs.js'

const RULES = 'x-kubernetes-validations'
const hosts = (bounds: { items?: number; length?: number; rule?: string; itemRule?: string }) => ({
  type: 'object',
  ...(bounds.rule === undefined ? {} : { [RULES]: [{ rule: bounds.rule }] }),
  properties: {
    hosts: {
      type: 'array',
      ...(bounds.items === undefined ? {} : { maxItems: bounds.items }),
      items: {
        type: 'object',
        ...(bounds.itemRule === undefined ? {} : { [RULES]: [{ rule: bounds.itemRule }] }),
        properties: { name: { type: 'string', ...(bounds.length === undefined ? {} : { maxLength: bounds.length }) } },
      },
    },
  },
})

const UNIQUE = 'self.hosts.all(h, self.hosts.exists_one(o, o.name == h.name))'
const LETTERS = "self.name.matches('^[a-z]+$')"

test('the parts of a rule are printed as they are written, with their costs and sizes', () => {
  const [cost] = explainCosts(hosts({ rule: UNIQUE, items: 10, length: 20 }))
  expect(cost).toMatchObject({ field: '', times: 1, total: cost!.once })
  expect(cost!.parts.map(({ text, depth, size, repeated }) => [depth, text, size, repeated])).toEqual([
    [0, UNIQUE, undefined, false],
    [1, 'self.hosts', 10, false],
    [1, 'self.hosts.exists_one(o, o.name == h.name)', undefined, true],
    [2, 'self.hosts', 10, false],
    [2, 'o.name == h.name', undefined, true],
    [3, 'o.name', 80, false],
    [3, 'h.name', 80, false],
  ])
  expect(cost!.parts[0]!.cost).toBe(cost!.once)
})

test('a rule below a list is evaluated as often as the list has items', () => {
  const [cost] = explainCosts(hosts({ itemRule: LETTERS, items: 7, length: 5 }))
  expect(cost).toMatchObject({ field: 'hosts[]', times: 7, total: cost!.once * 7 })
})

test('each bound that is named is the largest that fits', () => {
  const { alone, together } = findRemedies(hosts({ itemRule: LETTERS }), 0)
  expect(alone.map(({ field, keyword }) => `${field} ${keyword}`)).toEqual(['hosts maxItems', 'hosts[].name maxLength'])
  const total = (bounds: { items?: number; length?: number }): number =>
    explainCosts(hosts({ itemRule: LETTERS, ...bounds }))[0]!.total
  const [items, length] = alone.map(({ max }) => max) as [number, number]
  expect(total({ items })).toBeLessThanOrEqual(RULE_COST_LIMIT)
  expect(total({ items: items + 1 })).toBeGreaterThan(RULE_COST_LIMIT)
  expect(total({ length })).toBeLessThanOrEqual(RULE_COST_LIMIT)
  expect(total({ length: length + 1 })).toBeGreaterThan(RULE_COST_LIMIT)
  const { max } = together[0]!
  expect(total({ items: max, length: max })).toBeLessThanOrEqual(RULE_COST_LIMIT)
  expect(total({ items: max + 1, length: max + 1 })).toBeGreaterThan(RULE_COST_LIMIT)
})

test('where no bound is enough, none is named', () => {
  const nested = 'lists.range(10000).all(i, lists.range(10000).all(j, i != j))'
  expect(findRemedies(hosts({ rule: nested }), 0)).toEqual({ alone: [], together: [] })
})

test('bounds of a rule do not depend on the rules beside it, and are found in steps', () => {
  const { properties, ...rest } = hosts({ rule: UNIQUE, items: 3000 })
  const beside = { type: 'object', properties: { other: hosts({ rule: UNIQUE, items: 10, length: 20 }) } }
  const schema = { ...rest, properties: { aside: beside, ...properties } }
  expect(findRemedies(schema, 0)).toEqual(findRemedies({ ...rest, properties }, 0))
  const steps = remedySteps(schema, 0)
  let count = 0
  let last = steps.next()
  for (; last.done !== true; last = steps.next()) count++
  expect(count).toBeGreaterThan(10)
  expect(last.value).toEqual(findRemedies(schema, 0))
})
