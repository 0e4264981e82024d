import { describe, expect, test } from 'vitest'
import {
  CelMap,
  compile,
  createEnvironment,
  Double,
  estimateCost,
  extendEnvironment,
  mapFrom,
  RULE_ENVIRONMENT,
  types,
  Uint,
  type Value,
} from '../index.js'

const rules = createEnvironment(RULE_ENVIRONMENT)
const withVariables = extendEnvironment(rules, {
  variables: {
    i: types.INT,
    s: types.STRING,
    l: types.listOf(types.INT),
    m: types.mapOf(types.STRING, types.INT),
    d: types.DYN,
  },
})

function run(expression: string, variables: Record<string, Value> = {}, costLimit = 1_000_000) {
  const result = compile(expression, withVariables)
  if (!result.ok) throw new Error(result.message)
  return result.program.evaluate(variables, { costLimit })
}

function problems(expression: string): string {
  const result = compile(expression, withVariables)
  return result.ok ? '' : result.message
}

describe('compile errors', () => {
  test.each([
    ['self.', "ERROR: <input>:1:6: Syntax error: no viable alternative at input '.'\n | self.\n | .....^"],
    ['(i == 1', "ERROR: <input>:1:8: Syntax error: missing ')' at '<EOF>'\n | (i == 1\n | .......^"],
    ['i == 1)', "ERROR: <input>:1:7: Syntax error: extraneous input ')' expecting <EOF>\n | i == 1)\n | ......^"],
    ['i.true', "ERROR: <input>:1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER\n | i.true\n | ..^"],
    [
      '{[1].sortBy(x, -x)',
      "ERROR: <input>:1:19: Syntax error: mismatched input '<EOF>' expecting ':'\n | {[1].sortBy(x, -x)\n | ..................^",
    ],
    [
      'has(i < ',
      'ERROR: <input>:1:7: invalid argument to has() macro\n | has(i < \n | ......^\n' +
        "ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | has(i < \n | ........^",
    ],
    [
      '[1].all(has(i), true)',
      'ERROR: <input>:1:13: invalid argument to has() macro\n | [1].all(has(i), true)\n | ............^\n' +
        'ERROR: <input>:1:13: argument must be a simple name\n | [1].all(has(i), true)\n | ............^',
    ],
    [
      '[1].filter(.x, true)',
      "ERROR: <input>:1:13: undeclared reference to '.x' (in container '')\n | [1].filter(.x, true)\n | ............^",
    ],
    ['foo', "ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo\n | ^"],
    [
      "'é' + i",
      "ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'\n | 'é' + i\n | .．..^",
    ],
    ['has(i)', 'ERROR: <input>:1:5: invalid argument to has() macro\n | has(i)\n | ....^'],
    ['[1, "a"] == []', "ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, \"a\"] == []\n | ....^"],
    [
      "{'a': 1, 'b': 'x', 'c': true} == {}",
      "ERROR: <input>:1:15: expected type 'int' but found 'string'\n | {'a': 1, 'b': 'x', 'c': true} == {}\n | ..............^\n" +
        "ERROR: <input>:1:25: expected type 'int' but found 'bool'\n | {'a': 1, 'b': 'x', 'c': true} == {}\n | ........................^",
    ],
    [
      '[[1], [d]] == []',
      "ERROR: <input>:1:7: expected type 'list(int)' but found 'list(dyn)'\n | [[1], [d]] == []\n | ......^",
    ],
    [
      "'%.f'.format([1.0])",
      'ERROR: <input>:1:13: could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax\n | \'%.f\'.format([1.0])\n | ............^',
    ],
    [
      "'%é'.format([1.0])",
      'ERROR: <input>:1:12: could not parse formatting clause: unrecognized formatting clause "Ã"\n | \'%é\'.format([1.0])\n | ..．........^',
    ],
    [
      "timestamp('9999-12-31T23:59:59-08:00') == timestamp(0)",
      "ERROR: <input>:1:11: invalid timestamp argument\n | timestamp('9999-12-31T23:59:59-08:00') == timestamp(0)\n | ..........^",
    ],
    ["s.matches('[')", "ERROR: <input>:1:11: invalid matches argument\n | s.matches('[')\n | ..........^"],
    [`${'('.repeat(250)}i${')'.repeat(250)} == 1`, 'ERROR: <input>:-1:0: expression recursion limit exceeded: 250'],
    [`i${' + 1'.repeat(251)} > 0`, 'ERROR: <input>:-1:0: max recursion depth exceeded'],
  ])('%#', (expression, message) => {
    expect(problems(expression)).toBe(message)
  })

  test('every error of an expression is shown, in the order of the places', () => {
    expect(problems('foo || bar').match(/ERROR: [^ ]+/g)).toEqual(['ERROR: <input>:1:1:', 'ERROR: <input>:1:8:'])
  })

  test('constant parts that cannot be computed are errors of the program', () => {
    const result = compile("int('x') == 1", rules)
    expect(result).toMatchObject({
      ok: false,
      stage: 'program',
      message: "type conversion error from 'string' to 'int'",
    })
    const index = compile("dyn({'a': 1})[dyn(b'a')] == 1", rules)
    expect(compile('[timestamp].size() == 1', rules)).toMatchObject({
      stage: 'program',
      message: 'reference to undefined type: timestamp',
    })
    expect(index).toMatchObject({ ok: false, stage: 'program', message: 'invalid qualifier type: types.Bytes' })
  })
})

describe('numbers', () => {
  test.each<[string, unknown]>([
    ['9223372036854775807 + 1', 'integer overflow'],
    ['-9223372036854775808 / -1', 'integer overflow'],
    ['9007199254740991 + 1 == 9007199254740992', true],
    ['4611686018427387904 * 2', 'integer overflow'],
    ['-7 / 2 == -3 && -7 % 2 == -1', true],
    ['1u - 2u', 'unsigned integer overflow'],
    ['1 / 0', 'division by zero'],
    ['dyn(1) == 1.0 && dyn(1u) == 1', true],
    ['1 < 2.5', true],
    ["double('NaN') < 1.0", 'NaN values cannot be ordered'],
  ])('%s', (expression, expected) => {
    const { value, error } = run(expression)
    expect(error?.message ?? value).toBe(expected)
  })
})

describe('values at their limits', () => {
  const tenth = '0.1000000000000000055511151231257827021181583404541015625'
  test.each<[string, unknown]>([
    ["-dyn(duration('1h')) == duration('-1h')", true],
    ["string(timestamp('2024-01-01T00:00:00+02:00') + duration('1h'))", '2024-01-01T01:00:00+02:00'],
    ["string(duration('-1h') + timestamp('2024-01-01T00:00:00-08:00'))", '2023-12-31T23:00:00-08:00'],
    ["timestamp('0001-01-01T00:00:00Z').getDate('Asia/Kolkata')", 1],
    ["timestamp('0001-01-01T00:00:00Z').getFullYear('America/New_York')", 0],
    ["timestamp('2024-01-01T00:00:00Z').getSeconds('Local')", 0],
    ['lists.range(-1) == []', true],
    ["optional.none()[dyn(ip('::1'))] == optional.none()", true],
    ["quantity('1E').sub(quantity('100m')).asApproximateFloat() == 1e18", true],
    ["'%.300f'.format([0.1])", tenth],
    ["'%.101f'.format([0.1])", tenth.padEnd(103, '0')],
    ["'%.0f %.0f %.3f'.format([0.5, -1.5, 1e22])", '0 -2 10,000,000,000,000,000,000,000.000'],
  ])('%s', (expression, expected) => {
    const { value, error } = run(expression)
    expect(error?.message ?? value).toBe(expected)
  })
})

describe('errors are absorbed', () => {
  test.each<[string, unknown]>([
    ['1 / 0 == 1 || true', true],
    ['false && 1 / 0 == 1', false],
    ['1 / 0 == 1 && true', 'division by zero'],
    ['[0, 5].exists(x, 10 / x == 2)', true],
    ['[0, 5].all(x, 10 / x == 2)', 'division by zero'],
    ['true ? 1 : 1 / 0', 1],
  ])('%s', (expression, expected) => {
    const { value, error } = run(expression)
    expect(error?.message ?? value).toBe(expected)
  })
})

const NOT_UTF8 =
  'error during formatting: could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string'

describe('values that fit no overload', () => {
  test.each<[string, Value, string]>([
    ['-d', 'a', 'no such overload'],
    ['-d', true, 'no such overload: -_'],
    ['!d', 1, 'no such overload'],
    ['d * 2', 'a', 'no such overload'],
    ['d * 2', true, 'no such overload: _*_'],
    ["'a' in d", 'abc', 'no such overload'],
    ['size(d)', 1, 'no such overload: size'],
    ["d.startsWith('a')", 1, 'no such overload'],
    ["'a'.matches(d)", 1, 'no such overload'],
    ['d.getFullYear()', 1, 'no such overload: getFullYear(int)'],
    ["'a'.find(d)", '[', 'Illegal regex: error parsing regexp: missing closing ]: `[`'],
    ['{null: 1}[d] == 1', null, 'invalid qualifier type: types.Null'],
    ['{1: 1}[d] == 1', new Uint8Array(), 'invalid qualifier type: types.Bytes'],
    ["{'a': 1}[dyn(ip('::1'))] == 1 && d", true, 'invalid qualifier type: cel.IP'],
    ['[1][?dyn(optional.of(d))] == optional.none()', 1, 'invalid qualifier type: *types.Optional'],
    ['[1][dyn(d)] == 1', new Double(1e21), 'unsupported index value 1e+21 in list'],
    ['[1][dyn(d)] == 1', new Double(1e6), 'index out of bounds: 1e+06'],
    ['d in {1: 2}', new Uint8Array(), 'internal error: runtime error: hash of unhashable type types.Bytes'],
    ['d in {1: 2} || true', new Uint8Array(), 'internal error: runtime error: hash of unhashable type types.Bytes'],
    ['dyn([d]).sort() == []', null, 'list elements must be comparable'],
    ['dyn([[d]]).sortBy(x, x) == []', 1, 'list elements must be comparable'],
    ["'%s'.format([d]) == ''", new Uint8Array([255]), NOT_UTF8],
    ["'%s'.format([[d]]) == ''", new Uint8Array([255]), NOT_UTF8],
    [
      "'%s'.format([{d: 1}]) == ''",
      null,
      'error during formatting: no formatting function for map key of type null_type',
    ],
  ])('%s of %j', (expression, d, message) => {
    expect(run(expression, { d }).error?.message).toBe(message)
  })

  test('what is no optional is its own value', () => {
    const optional = extendEnvironment(rules, { variables: { o: types.optionalOf(types.STRING) } })
    const compiled = compile("o.orValue('nothing')", optional)
    expect(compiled.ok && compiled.program.evaluate({ o: 'a' }).value).toBe('a')
  })

  test('anything may be a key of a map', () => {
    expect(run('{d: 1, dyn([1]): 2}.size()', { d: [1] }).value).toBe(2)
  })
})

describe('scalars have no fields, and lists cannot have any', () => {
  test.each<[string, Value, unknown]>([
    ['has(d.a)', null, false],
    ['has(d.a)', 1, false],
    ['has(d.a)', 'a', false],
    ['d.?a.hasValue()', null, false],
    ["d[?'a'].hasValue()", 1, false],
    ['d.a', 1, 'no such key: a'],
    ['has(d.a.b)', null, 'no such key: a'],
    ['has(d.a)', [1], "unsupported index type 'string' in list"],
    ['d.?a.hasValue()', [1], "unsupported index type 'string' in list"],
    ['d.a', [1], "unsupported index type 'string' in list"],
  ])('%s of %j is %j', (expression, d, expected) => {
    const { value, error } = run(expression, { d })
    expect(error?.message ?? value).toBe(expected)
  })
})

describe('run-time cost', () => {
  const l = [1, 2, 3]
  test.each<[string, number]>([
    ['i == 1', 2],
    ['s == "abcdefghijk"', 3],
    ['l[0] == 1', 3],
    ['l.all(x, x > 0)', 17],
    ['l.map(x, x + 1).size() == 3', 46],
    ['i in [1, 2, 3]', 1],
    ['i > 0 ? i : i', 2],
    ['has(m.a)', 1],
    ["s.matches('a+')", 3],
    ['[1, 2] == l', 2],
  ])('%s costs %i', (expression, cost) => {
    expect(run(expression, { i: 1, s: 'abcdefghijk', l, m: mapFrom([['a', 1]]) }).cost).toBe(cost)
  })

  test('an evaluation ends where its limit does', () => {
    const result = run('l.all(x, l.all(y, l.all(z, true)))', { l: Array.from({ length: 1000 }, (_, i) => i) }, 10_000)
    expect(result).toMatchObject({
      limitExceeded: true,
      error: { message: 'operation cancelled: actual cost limit exceeded' },
    })
    expect(result.cost).toBe(10_001)
  })
})

describe('hostile expressions', () => {
  const bounded = (expression: string, variables: Record<string, Value> = {}): number => {
    const start = performance.now()
    run(expression, variables)
    return performance.now() - start
  }

  test('doubling a string or list stops at the limit', () => {
    const nest = (depth: number): string =>
      depth === 0 ? 'v0' : `optional.of(v${depth} + v${depth}).optMap(v${depth - 1}, ${nest(depth - 1)}).value()`
    const text = `optional.of('abcdefghij').optMap(v40, ${nest(40)}).value().size() > 0`
    expect(run(text).limitExceeded).toBe(true)
    const lists = `optional.of([1, 2]).optMap(v40, ${nest(40)}).value()`
    for (const use of [
      `${lists} == ${lists}`,
      `[${lists}] == [${lists}]`,
      `${lists}.sum() > 0`,
      `${lists}.reverse() == []`,
    ]) {
      expect(bounded(use)).toBeLessThan(2000)
    }
    expect(bounded(`'%s'.format([${lists}]) == ''`)).toBeLessThan(2000)
  })

  test('patterns that make other engines run for ever', () => {
    expect(bounded("s.matches('^(a+)+$')", { s: `${'a'.repeat(50_000)}!` })).toBeLessThan(2000)
  })

  test('long chains of operators nest no deeper than their logarithm', () => {
    expect(problems(Array.from({ length: 5000 }, () => 'i == 1').join(' || '))).toBe('')
  })

  test('an invalid expression is refused in bounded time', () => {
    const start = performance.now()
    expect(problems('[{('.repeat(2000))).toContain('ERROR')
    expect(problems('a b '.repeat(10_000))).toContain('ERROR')
    expect(performance.now() - start).toBeLessThan(3000)
  })
})

describe('static cost', () => {
  const sizes = {
    sizeOf: ({ path }: { path: readonly string[] }) =>
      ({ s: { min: 0, max: 100 }, l: { min: 0, max: 10 } })[path.join('.')],
  }
  test.each<[string, number, number]>([
    ['i == 1', 2, 2],
    ['s == "abc"', 2, 2],
    ['l.all(x, x > 0)', 2, 52],
    ["s.matches('^abc$')", 3, 23],
    ['s.contains("ab")', 1, 11],
    ['i > 0 || s.startsWith("a")', 2, 4],
    ['l.exists(x, l.exists(y, x == y))', 2, 762],
    ['s + s == s', 4, 33],
  ])('%s costs %i to %i', (expression, min, max) => {
    const result = compile(expression, withVariables)
    if (!result.ok) throw new Error(result.message)
    expect(estimateCost(result.program.checked!, withVariables, sizes)).toEqual({ min, max })
  })
})

describe('libraries of rules', () => {
  test.each([
    '[1 / 0].sort() == [1] || true',
    '[1 / 0].distinct() == [1] || true',
    '[1 / 0].sortBy(x, x) == [1] || true',
  ])('%s breaks off, as in cel-go', expression => {
    const { error } = run(expression)
    expect(error?.message).toBe(
      'internal error: interface conversion: *types.Err is not traits.Lister: missing method Add',
    )
  })

  test('errors of functions are those of cel-go', () => {
    expect(run('[[1 / 0]].flatten() == [1]').error?.message).toBe('division by zero')
    expect(run("'ab'.substring(4, 1) == ''").error?.message).toBe('invalid substring range. start: 4, end: 1')
    expect(run('[1 / 0].reverse() == [1] || true')).toMatchObject({ value: true })
  })

  test('a text is looked for from any place, as in cel-go', () => {
    const found = "'ab'.indexOf('', -7) == -7 && 'ab'.indexOf('b', 9) == -1 && 'ab'.indexOf('', 9) == 9"
    expect(run(`${found} && 'ab'.lastIndexOf('', 9) == 9 && 'ab'.lastIndexOf('b', 2) == -1`)).toMatchObject({
      value: true,
    })
    for (const name of ['indexOf', 'lastIndexOf']) {
      expect(run(`'ab'.${name}('b', -1) == 0`).error?.message).toBe('index out of range: -1')
    }
  })

  test('a value of a library cannot be compared with one of another type, except null', () => {
    for (const value of ["quantity('1')", "url('https://a')", "ip('1.2.3.4')", "cidr('10.0.0.0/8')"]) {
      expect(run(`${value} == dyn('x')`).error?.message).toBe('no such overload')
      expect(run(`${value} != dyn('x') && dyn('x') != ${value} && ${value} != dyn(null)`)).toMatchObject({
        value: true,
      })
      // Of two lists, cel-go skips such items.
      expect(run(`[${value}] == [dyn('x')]`)).toMatchObject({ value: true })
    }
  })

  test('a sum of quantities cannot be the right side of ==, as in kube-apiserver', () => {
    const sum = "quantity('1').add(quantity('1'))"
    expect(run(`${sum} == quantity('2') && ${sum}.compareTo(${sum}) == 0`)).toMatchObject({ value: true })
    expect(run(`quantity('2') == ${sum}`).error?.message).toBe('no such overload')
    expect(run(`quantity('2') != ${sum}`)).toMatchObject({ value: true })
  })

  test.each([
    "url('https://user@example.com:8080/a%20b?k=v').getHostname() == 'example.com'",
    "url('https://[::1]:443/').getHost() == '[::1]:443' && url('https://x/a b').getEscapedPath() == '/a%20b'",
    "ip('2001:db8::1').family() == 6 && !isIP('::ffff:1.2.3.4') && ip.isCanonical('::1')",
    "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
    "quantity('1.5Gi').isGreaterThan(quantity('1G')) && isQuantity('100m')",
    "semver('1.0.0-rc.1').isLessThan(semver('1.0.0')) && isSemver('v1.2', true)",
    "'%d %s %x'.format([1, 'a', 255]) == '1 a ff'",
    "['b', 'a'].sort() == ['a', 'b'] && [3, 1].min() == 1 && [1, 2].sum() == 3",
    "[{'n': 2}, {'n': 1}].sortBy(e, e.n)[0].n == 1",
    "'aab'.findAll('a*') == ['aa', ''] && 'abc'.find('b.') == 'bc'",
    "format.dns1123Label().validate('A').hasValue() && !format.named('uuid').value().validate('x').value().isSorted() == false",
    'sets.contains([1, 2, 3], [1]) && sets.equivalent([1, 1], [1])',
    "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2} && [1, 2].transformList(i, v, i * v) == [0, 2]",
    "optional.none().orValue(1) == 1 && {'a': 1}.?a.hasValue() && {?'b': {'a': 1}[?'b']} == {}",
    "timestamp('2020-01-01T00:00:00Z').getHours('America/New_York') == 19",
    "duration('1h30m') > duration('89m') && string(duration('1500ms')) == '1.5s'",
    "type(1) == int && type(url('https://a')) != type('a')",
  ])('%s', expression => {
    expect(run(expression)).toMatchObject({ value: true })
  })
})

test.each([`0${'0'.repeat(1_000_000)}x`, `0x1${'a'.repeat(1_000_000)}X`])(
  'a long text that is no number is found so in a time that grows with its length',
  text => {
    expect(run('double(s)', { s: text }).error?.message).toContain('type conversion error')
  },
)

test('an environment without a checker resolves names while it evaluates', () => {
  const result = compile('a.b.size() + c', rules, { check: false })
  if (!result.ok) throw new Error(result.message)
  expect(result.program.evaluate({ 'a.b': 'xyz', c: 1 }).value).toBe(4)
  expect(result.program.evaluate({ a: mapFrom([['b', 'xy']]), c: 1 }).value).toBe(3)
  expect(result.program.evaluate({ c: 1 }).error?.message).toBe('no such attribute(s): a')
})

test('keys that are equal numbers are one key', () => {
  const map = new CelMap()
  map.set(1, 'int')
  expect([map.get(new Uint(1n)), map.get(new Double(1)), map.get(new Double(1.5))]).toEqual(['int', 'int', undefined])
})

test('a type that can only be named passes the check, and no program is made of it', () => {
  const named = compile('type(1) == google.protobuf.Int64Value', rules)
  expect(named).toMatchObject({
    ok: false,
    stage: 'program',
    message: 'reference to undefined type: google.protobuf.Int64Value',
  })
  expect(compile('google.protobuf.Unheard == 1', rules)).toMatchObject({ ok: false, stage: 'check' })
})

test.each([
  ['s == "a"', false],
  ['s != "a"', true],
  ['s == null || true', true],
  ['s.contains("a")', 'no such overload'],
  ['s < "a"', 'no such overload'],
  ['i < 3', 'no such overload'],
  ['i + 1 == 2', 'no such overload'],
  ['s.matches("a")', 'no such overload'],
])('a null where another type was declared: %s', (expression, result) => {
  const compiled = compile(expression, { ...withVariables, checkLiterals: false })
  if (!compiled.ok) return expect(compiled.message).toContain('no matching overload')
  const { value, error } = compiled.program.evaluate({ s: null, i: null })
  expect(error ? error.message.slice(0, 16) : value).toBe(result)
})
