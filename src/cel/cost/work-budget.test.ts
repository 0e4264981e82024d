// Expressions that cost little and would take minutes. Without the count of their work these tests do not end.
import { expect, test } from 'vitest'
import { compile, createEnvironment, fromPlain, RULE_ENVIRONMENT, types, type Value } from '../index.js'

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

function run(expression: string) {
  const compiled = compile(expression, environment)
  if (!compiled.ok) throw new Error(compiled.message)
  return compiled.program.evaluate(VARIABLES)
}

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
])('%s ends as if its budget were spent', expression => {
  const { limitExceeded, error } = run(expression)
  expect(limitExceeded).toBe(true)
  expect(error!.message).toBe('operation cancelled: actual cost limit exceeded')
})

test.each([
  ['s.indexOf("b" + s.substring(0, 500000)) == -1'],
  ['s.lastIndexOf(s.substring(0, 500000) + "b") == -1'],
  ['s.split("b" + s.substring(0, 500000)).size() == 1'],
  ['(s.replace("a", " ") + "x").trim() == "x"'],
])('%s is found out in linear time', expression => {
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
