// Expressions that cost little and would take minutes. Without a work budget these tests do not end.
import { describe, expect, test } from 'vitest'
import {
  CelError,
  compile,
  createEnvironment,
  fromPlain,
  MapValue,
  type Program,
  RULE_ENVIRONMENT,
  types,
  type Value,
  WorkBudget,
} from '../index.js'

const LONG = 'a'.repeat(1_000_000)
const VARIABLES: Record<string, Value> = {
  s: LONG,
  wide: '😀'.repeat(300_000),
  lists: Array.from({ length: 1000 }, () => Array.from({ length: 1000 }, (_, i) => i)),
  map: fromPlain(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]))),
}
const environment = createEnvironment({
  ...RULE_ENVIRONMENT,
  variables: {
    s: types.STRING,
    wide: types.STRING,
    lists: types.listOf(types.listOf(types.INT)),
    map: types.mapOf(types.STRING, types.INT),
  },
})

function programOf(expression: string, within = environment): Program {
  const compiled = compile(expression, within)
  if (!compiled.ok) throw new Error(compiled.message)
  return compiled.program
}

const run = (expression: string) => programOf(expression).evaluate(VARIABLES)

const doubled = (times: number): string => `[1]${'.map(x, [x, x])'.repeat(times)}`

test.each([
  'lists.range(100000).all(i, lists == lists)',
  'lists.range(100000).all(i, optional.of(lists) == optional.of(lists))',
  'lists.range(100000).all(i, map == map)',
  'lists.range(100000).all(i, [s + "a"] == [s + "a"])',
  'lists.range(100000).all(i, wide.charAt(i) != "")',
  'lists.range(100000).all(i, "%s".format([lists]) != "")',
  'lists.range(100000).all(i, "%x".format([s]) != "")',
  'lists.range(100000).all(i, strings.quote(s) != "")',
  'lists.range(100000).all(i, lists.flatten().size() > 0)',
  'lists.range(100000).all(i, isURL(s) || isQuantity(s) || true)',
  'lists.range(100000).all(i, "a".matches("a{1,999}" + string(i)) || true)',
  's.replace("a", s.substring(0, 100000)).size() > 0',
  's.split("").join(s).size() > 0',
  `${doubled(40)}.all(x, x == x)`,
  `${doubled(40)}.all(x, "%s".format([x]) != "")`,
])('%s is stopped by the work budget', expression => {
  const { limitExceeded, error } = run(expression)
  expect(limitExceeded).toBe(true)
  expect(error!.message).toBe('operation cancelled: actual cost limit exceeded')
})

test.each([
  ['s.indexOf("b" + s.substring(0, 500000)) == -1'],
  ['s.lastIndexOf(s.substring(0, 500000) + "b") == -1'],
  ['s.split("b" + s.substring(0, 500000)).size() == 1'],
  ['(s.replace("a", " ") + "x").trim() == "x"'],
])('%s takes linear time', expression => {
  expect(run(expression).value).toBe(true)
})

test.each([
  ['"né😀o".indexOf("😀")', 2],
  ['"né😀o😀".indexOf("😀", 3)', 4],
  ['"né😀o".lastIndexOf("o")', 3],
  ['"😀o😀o".lastIndexOf("😀", 1)', 0],
  [`("ab".replace("", "${'x'.repeat(70)}") + "é").indexOf("${'x'.repeat(70)}b")`, 71],
  [`("ab".replace("", "${'x'.repeat(70)}") + "é").lastIndexOf("${'x'.repeat(70)}")`, 142],
  [`"${'x'.repeat(70)}y${'x'.repeat(70)}z".split("${'x'.repeat(70)}").join(",") == ",y,z"`, true],
])('%s is %s', (expression, value) => {
  expect(run(expression).value).toBe(value)
})

describe('an evaluation inside another one', () => {
  /** Variables that are computed when the outer expression reads them, as those of policies are. */
  class LazyVariables extends MapValue {
    constructor(
      private readonly program: Program,
      private readonly budget: WorkBudget,
    ) {
      super()
    }
    readonly size = 1
    get(key: Value): Value | undefined {
      if (key !== 'lazy') return undefined
      const { value, error } = this.program.evaluate({ lists: LISTS }, { budget: this.budget })
      return value ?? error ?? new CelError('no value')
    }
    keys(): Iterable<Value> {
      return ['lazy']
    }
  }
  const outerEnvironment = createEnvironment({
    ...RULE_ENVIRONMENT,
    variables: {
      lists: types.listOf(types.listOf(types.INT)),
      variables: types.mapOf(types.STRING, types.BOOL),
    },
  })
  const inner = 'lists == lists'
  const LISTS = Array.from({ length: 50 }, () => Array.from({ length: 50 }, (_, i) => i))

  test.each([
    ['closures', 0],
    ['generated code', 300],
  ])('by %s charges the outer budget and does not reset it', (_by, warmUps) => {
    const nested = programOf(inner)
    const outer = programOf('variables.lazy && lists.all(x, x == x) && variables.lazy', outerEnvironment)
    const evaluate = (workLimit: number) => {
      const budget = new WorkBudget(workLimit)
      const variables = new LazyVariables(nested, budget)
      return { ...outer.evaluate({ lists: LISTS, variables }, { budget }), left: budget.left }
    }
    for (let i = 0; i < warmUps; i++) evaluate(1e9)
    const { work } = nested.evaluate({ lists: LISTS })
    expect(work).toBeGreaterThan(2500)
    // Two times the inner expression, and the comparisons of the outer one.
    const complete = evaluate(1e9)
    expect(complete.value).toBe(true)
    expect(complete.work).toBeGreaterThanOrEqual(3 * work - 100)
    expect(1e9 - complete.left).toBeGreaterThanOrEqual(complete.work)
    const exceeded = evaluate(2.5 * work)
    expect([exceeded.value, exceeded.limitExceeded ?? exceeded.error !== undefined]).toEqual([undefined, true])
  })

  test('has a budget of its own if it is given none', () => {
    const budget = new WorkBudget(10)
    expect(programOf(inner).evaluate({ lists: LISTS }).value).toBe(true)
    expect(budget.left).toBe(10)
  })
})
