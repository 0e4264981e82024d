// Any expression compiles in time linear in its length, or is refused. Work is counted, not timed; what is not counted
// took exponential time in its length and would not end.
import { describe, expect, test } from 'vitest'
import { compile, createEnvironment, estimateCost, printExpression, RULE_ENVIRONMENT, UNBOUNDED } from './index.js'
import { lex } from './syntax/lexer.js'
import { printIssues, sourceOf } from './syntax/source.js'
import { diagnose } from './syntax/syntax-errors.js'

const environment = createEnvironment(RULE_ENVIRONMENT)
const diagnosisOf = (text: string) => diagnose(lex(sourceOf(text)), environment, 250)

describe('syntax errors', () => {
  test.each([
    ['a list', '[', '1,', 500],
    ['signed numbers with indexes', '', '-1[', 50],
    ['signed numbers with calls', '.', '-1.a(', 50],
    ['optional indexes', '', '-1[?', 50],
    ['brackets', '', '[', 100],
    ['braces', '', '{', 100],
    ['parentheses', '', '(', 100],
    ['messages', '', 'a.b{c:', 60],
    ['maps', '', '{?a:', 60],
    ['conditions', '', 'a?b:', 50],
    ['macros', '', 'x.all(y,', 60],
    ['selections', 'a', '.b', 500],
    ['a chain of operators', '1', '+1', 100],
    ['minuses', '', '-', 500],
  ])('in %s are found in a number of steps that grows with the length', (_what, start, part, count) => {
    const once = diagnosisOf(`${start}${part.repeat(count)}#`)
    const twice = diagnosisOf(`${start}${part.repeat(2 * count)}#`)
    expect(once.issues.length).toBeGreaterThan(0)
    expect(twice.steps).toBeLessThan(2.5 * once.steps)
    expect(once.steps).toBeLessThan(300_000)
  })

  test('in an expression of many different nestings end with the limit', () => {
    // Each nesting is another one, so that nothing is known of it.
    const shapes = ['[', '{a:', '(', 'f(', 'a[', '{?', '-(', '[?', 'a?(', 'x.y(b,']
    let text = ''
    for (let i = 0; i < 40; i++) {
      const path = Array.from({ length: 200 }, (_, level) => shapes[(i * 7 + level * (i + 3)) % shapes.length])
      text += `${path.join('')}1,`
    }
    const { issues, steps } = diagnosisOf(text)
    expect(steps).toBeLessThan(1_100_000)
    expect(issues.length).toBeGreaterThan(0)
  })

  test('are at most a hundred', () => {
    const message = printIssues(sourceOf('$'.repeat(5000)), diagnosisOf('$'.repeat(5000)).issues)
    const lines = message.split('\n').filter(line => !line.startsWith(' |'))
    expect(lines).toHaveLength(101)
    expect(lines.at(-1)).toBe('1 more errors were truncated')
  })

  test('end where no token fits among the next 256', () => {
    expect(diagnosisOf('a '.repeat(300)).issues).toContainEqual({
      offset: -1,
      message: 'error recovery token lookahead limit exceeded: 256',
    })
  })

  test('in a long line are printed without it', () => {
    const compiled = compile(`[${'a,'.repeat(20_000)}1]`, environment)
    expect(compiled.ok).toBe(false)
    if (compiled.ok) return
    expect(compiled.message.length).toBeLessThan(10_000)
    expect(compiled.message.split('\n')).toHaveLength(101)
    expect(compiled.message.split('\n').at(-1)).toBe('19900 more errors were truncated')
  })
})

describe('a chain of', () => {
  test.each([
    ['optMap', 'optional.of(1)', '.optMap(x, x + 1)'],
    ['optFlatMap', 'optional.of(1)', '.optFlatMap(x, optional.of(x))'],
  ])('%s is checked, estimated and planned once a call', (_name, start, call) => {
    const compiled = compile(start + call.repeat(200), environment)
    if (!compiled.ok) throw new Error(compiled.message)
    const { checked, expr, evaluate } = compiled.program
    let visited = 0
    const cost = estimateCost(checked!, environment, { sizeOf: () => undefined }, { visit: () => visited++ })
    expect(visited).toBeLessThan(200 * 20)
    expect(cost.max).toBe(UNBOUNDED)
    expect(printExpression(expr).length).toBeLessThan(200 * 50)
    expect(evaluate({}).limitExceeded).toBe(true)
  })

  test('optMap that begins with an error reports it as often as it stands in the expansion', () => {
    const errorsOf = (calls: number): number => {
      const compiled = compile(`y${'.optMap(x, x)'.repeat(calls)}`, environment)
      return compiled.ok ? 0 : compiled.issues.length
    }
    expect([1, 2, 3].map(errorsOf)).toEqual([2, 4, 8])
    expect(errorsOf(200)).toBeLessThan(20_000)
  })

  test('maps whose type doubles each time is refused', () => {
    const compiled = compile(`[1]${'.map(x, {x: x})'.repeat(60)}`, environment)
    expect(compiled.ok).toBe(false)
    if (compiled.ok) return
    expect(compiled.issues[0]!.message).toBe('the type of the expression has more than 10000 parts')
    expect(compiled.message.length).toBeLessThan(500_000)
  })
})

test('a bytes literal may be as long as an expression', () => {
  expect(compile(`b'${'😀'.repeat(90_000)}\\x00' == b''`, environment)).toMatchObject({ ok: true })
})
