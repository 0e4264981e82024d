import { describe, expect, test } from 'vitest'
import { compile, createEnvironment, Double, fromPlain, RULE_ENVIRONMENT, toPlain, types, Uint } from '../index.js'

const environment = createEnvironment({ ...RULE_ENVIRONMENT, variables: { x: types.DYN } })

function run(expression: string, x: unknown): unknown {
  const compiled = compile(expression, environment)
  if (!compiled.ok) throw new Error(compiled.message)
  const { value, error } = compiled.program.evaluate({ x: fromPlain(x) })
  return error ? error.message : toPlain(value!)
}

describe('fromPlain', () => {
  test.each<[string, unknown, unknown]>([
    ['type(x)', 1, 'int'],
    ['type(x)', -0, 'int'],
    ['type(x)', 1.5, 'double'],
    ['type(x)', 2 ** 60, 'double'],
    ['type(x) == int && x == 9223372036854775807', 2n ** 63n - 1n, true],
    ['x', 2n ** 63n, 'integer overflow'],
    ['type(x)', new Uint(1n), 'uint'],
    ['type(x)', new Date(0), 'google.protobuf.Timestamp'],
    ['x.getFullYear()', new Date('2024-05-01T00:00:00Z'), 2024],
    ['x == b"ab"', new Uint8Array([97, 98]), true],
    ['x.a.b[1].c', { a: { b: [0, { c: 'found' }] } }, 'found'],
    ['x == {"a": [1, 2]}', { a: [1, 2] }, true],
    ['x[2]', new Map([[2, 'two']]), 'two'],
    ['x.all(k, x[k] > 0)', { a: 1, b: 2 }, true],
    ['has(x.gone) || size(x) != 1', { a: 1, gone: undefined }, false],
  ])('%s of %o is %o', (expression, x, result) => {
    expect(run(expression, x)).toEqual(result)
  })

  test('keys are an object\u2019s own, whatever they are called', () => {
    expect(run('has(x.constructor) || "toString" in x', {})).toBe(false)
    expect(run('x["__proto__"]', JSON.parse('{"__proto__": 1}'))).toBe(1)
  })

  test('a function is refused', () => {
    expect(() => fromPlain(() => 1)).toThrow('a function cannot be a value of an expression')
  })
})

describe('toPlain', () => {
  test.each<[string, unknown]>([
    ['9007199254740993', 9007199254740993n],
    ['1u', 1n],
    ['1.0', 1],
    ['[1, 2] + [3]', [1, 2, 3]],
    ['{"a": {"b": [true]}}', { a: { b: [true] } }],
    ['{1: "one"}', new Map([[1, 'one']])],
    ['timestamp("2024-05-01T00:00:00.5Z")', new Date('2024-05-01T00:00:00.5Z')],
    ['duration("1h30m")', '5400s'],
    ['optional.of(1)', 1],
    ['optional.none()', undefined],
  ])('%s is %o', (expression, result) => {
    expect(run(expression, null)).toEqual(result)
  })

  test('a key of __proto__ is a key', () => {
    expect(Object.entries(run('{"__proto__": 1}', null) as object)).toEqual([['__proto__', 1]])
  })

  test('what was made for expressions stays what it is', () => {
    const double = new Double(1)
    expect(fromPlain(double)).toBe(double)
  })
})
