// The code comes to what the closures come to, at the same cost, or gives up.
import { tests as conformance } from '@bufbuild/cel-spec/testdata/conformance.js'
import { describe, expect, test } from 'vitest'
import { baselineEnvironment, casesOf, NeedsMessages, needsMessages, readValue } from '../../conformance.suite.js'
import {
  compile,
  createEnvironment,
  type Environment,
  extendEnvironment,
  fromPlain,
  RULE_ENVIRONMENT,
  toPlain,
  types,
  type Value,
  WorkBudget,
} from '../../index.js'
import { generate } from './generate.js'
import { GIVE_UP } from './writer.js'

interface Outcome {
  readonly value: Value | typeof GIVE_UP
  readonly cost: number
}

/** What the code of an expression comes to, beside what its closures come to; undefined if it cannot be compiled. */
function bothWays(expression: string, environment: Environment, variables: Record<string, Value>) {
  const compiled = compile(expression, environment)
  if (!compiled.ok) return undefined
  const { run, locals } = generate(compiled.program.checked!, environment)
  const frame = {
    variables,
    locals: Array.from({ length: locals }, () => undefined),
    cost: 0,
    limit: 1e6,
    budget: new WorkBudget(),
  }
  const byCode: Outcome = { value: run(variables, frame), cost: frame.cost }
  return { byCode, byClosures: compiled.program.evaluate(variables) }
}

const print = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'bigint' ? `${part}n` : part)) ?? 'undefined'

test('the public suite', () => {
  const differing: string[] = []
  const counts = { same: 0, givenUp: 0, failed: 0 }
  for (const { original } of casesOf(conformance)) {
    if (needsMessages(original) || original.checkOnly === true || original.disableCheck === true) continue
    try {
      const variables: Record<string, Value> = {}
      for (const [name, { value }] of Object.entries(original.bindings ?? {})) variables[name] = readValue(value!)
      const both = bothWays(original.expr, baselineEnvironment(original), variables)
      if (both === undefined) continue
      const { byCode, byClosures } = both
      if (byClosures.error !== undefined) {
        if (byCode.value !== GIVE_UP) differing.push(original.expr)
        counts.failed++
      } else if (byCode.value === GIVE_UP) counts.givenUp++
      else {
        const isSame = print(byCode.value) === print(byClosures.value) && byCode.cost === byClosures.cost
        if (!isSame) differing.push(`${original.expr}: ${print(byCode)}, not ${print(byClosures)}`)
        counts.same++
      }
    } catch (error) {
      if (!(error instanceof NeedsMessages)) throw error
    }
  }
  expect(differing).toEqual([])
  expect(counts.same).toBeGreaterThan(900)
  expect(counts.failed).toBeGreaterThan(60)
  expect(counts.givenUp).toBeLessThan(40)
})

const environment = extendEnvironment(createEnvironment(RULE_ENVIRONMENT), {
  variables: {
    i: types.INT,
    s: types.STRING,
    l: types.listOf(types.INT),
    t: types.listOf(types.STRING),
    m: types.mapOf(types.STRING, types.INT),
    d: types.DYN,
  },
})
const VARIABLES = {
  i: 3,
  s: 'Mündung 😀 der Elbe',
  l: fromPlain([1, 2, 3]),
  t: fromPlain(['a', 'bb', '']),
  m: fromPlain({ a: 1, b: 2 }),
  d: fromPlain({ name: 'x', list: [1, 'a'] }),
}

describe('what is written', () => {
  test.each([
    ['i + 1 < 5 && i * 2 - 1 == 5', true],
    ['s.size() == 18 && size(s) > 3', true],
    ["s.startsWith('Mün') && s.endsWith('Elbe') && s.contains('😀')", true],
    ["s != '' && s != 'Mündung' && s == s", true],
    ["i in [1, 2, 3] && s in ['a'] || 'a' in t", true],
    ['s in [] || !(i > 5) ? l[0] : l[1]', 1],
    ['l[i - 1]', 3],
    ["m['a'] + m.b", 3],
    ['has(m.a) && !has(m.c) && has(d.name)', true],
    ['l.all(x, x > 0) && l.exists(x, x == 2) && !l.all(x, x < 2) && !l.exists(x, x > 9)', true],
    ['l.exists_one(x, x == 2) && !l.exists_one(x, x > 1)', true],
    ['l.filter(x, x > 1)', [2, 3]],
    ["l.map(x, x * 2).size() + l.map(x, 1).size() + l.map(x, x > 1, 'a').size()", 8],
    ['l.all(x, t.exists(y, size(y) < x))', true],
    ["m.all(k, k < 'c') && m.exists(k, m[k] == 2)", true],
    ['l.all(x, [x, 1].all(y, y > 0))', true],
    ["d.name == 'x' && d.list.size() == 2", true],
    ["duration('1h') < duration('2h') && l.all(x, string(x) != '')", true],
    ["t.map(x, x + '!').join(',')", 'a!,bb!,!'],
    ['l.map(x, [x]).exists(y, y == [2])', true],
    ['t.all(x, x.matches("^[ab]*$"))', true],
    ['[l, l][1].size() + (i > 1 ? l : l)[0] + {"a": i}.a', 7],
  ])('%s', (expression, value) => {
    const { byCode, byClosures } = bothWays(expression, environment, VARIABLES)!
    expect(byCode.value).not.toBe(GIVE_UP)
    expect(toPlain(byCode.value as Value)).toEqual(value)
    expect(byCode.cost).toBe(byClosures.cost)
  })
})

test.each([
  ['i + 1', { i: Number.MAX_SAFE_INTEGER }],
  ['i * i', { i: 2 ** 40 }],
  ['i > 1', { i: 2n ** 60n }],
  ['i > 1', { i: 'text' }],
  ['i > 1', {}],
  ['l[5]', { l: [1] }],
  ['l[-1]', { l: [1] }],
  ['m.a', { m: fromPlain({}) }],
  ['d.a.b', { d: fromPlain({ a: 1 }) }],
  ['l.all(x, x > 0)', { l: [1, null] }],
  ['s.matches(s)', { s: '(' }],
])('%s gives up with %o', (expression, variables) => {
  expect(bothWays(expression, environment, variables as Record<string, Value>)!.byCode.value).toBe(GIVE_UP)
})

describe('an expression that is evaluated often', () => {
  const often = (expression: string, variables: Record<string, Value>, costLimit?: number) => {
    const compiled = compile(expression, environment)
    if (!compiled.ok) throw new Error(compiled.message)
    const { evaluate } = compiled.program
    const options = costLimit === undefined ? {} : { costLimit }
    const first = evaluate(variables, options)
    for (let i = 0; i < 250; i++) expect(evaluate(variables, options)).toEqual(first)
    return first
  }

  test('stays what it is', () => {
    expect(often('l.all(x, x > 0) && s.size() > 1', VARIABLES).value).toBe(true)
  })

  test('has the same errors', () => {
    expect(often('l[5] > 1', VARIABLES).error?.message).toBe('index out of bounds: 5')
    expect(often('l[5] > 1 || true', VARIABLES).value).toBe(true)
  })

  test('stops at the same limit', () => {
    const { limitExceeded, cost } = often('l.all(x, x > 0)', VARIABLES, 10)
    expect([limitExceeded, cost]).toEqual([true, 11])
    expect(often('l.all(x, x > 0)', VARIABLES, 17).limitExceeded).toBeUndefined()
  })
})
