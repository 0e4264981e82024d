import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { type FieldError, printFieldError } from '../errors/field-errors.js'
import {
  checkLabelSelector,
  EVERYTHING,
  type LabelSelector,
  matchesLabels,
  parseLabelSelector,
  printLabelSelector,
  requiredLabel,
  selectorOf,
  selectsEverything,
} from './label-selectors.js'

function read(text: string): LabelSelector {
  const selector = parseLabelSelector(text)
  if (!selector.ok) throw new Error(selector.error)
  return selector.value
}

describe('parsing and printing', () => {
  test.each([
    ['', ''],
    ['  ', ''],
    ['\0a=1', ''],
    ['a=1\0', 'a=1'],
    ['a\0in (1\0,2)', 'a in (1,2)'],
    ['a=\0', 'a='],
    ['a=1', 'a=1'],
    ['a==1,b!=2', 'a==1,b!=2'],
    ['b,a', 'a,b'],
    ['! tier', '!tier'],
    ['env in ( prod , dev )', 'env in (dev,prod)'],
    ['env notin (b,b,a)', 'env notin (a,b)'],
    ['env in (dev,)', 'env in (,dev)'],
    ['env in (,dev)', 'env in (,dev)'],
    ['env in (,,)', 'env in ()'],
    ['x in ()', 'x in ()'],
    ['a=,b', 'a=,b'],
    ['n>5,m<3', 'm<3,n>5'],
    ['in in (in,notin)', 'in in (in,notin)'],
    ['example.com/a=1', 'example.com/a=1'],
  ])('%j becomes %j', (text, canonical) => {
    expect(printLabelSelector(read(text))).toBe(canonical)
  })

  const KEY =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
  const VALUE =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

  test.each([
    ['=prod', "found '=', expected: !, identifier, or 'end of string'"],
    ['==', "found '==', expected: !, identifier, or 'end of string'"],
    ['(', "found '(', expected: !, identifier, or 'end of string'"],
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['env=a\0b', "found 'b', expected: ',' or 'end of string'"],
    ['env=a b', "found 'b', expected: ',' or 'end of string'"],
    ['env=x=y', "found '=', expected: ',' or 'end of string'"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['env,,tier', "found ',', expected: identifier after ','"],
    ['env,', "found '', expected: identifier after ','"],
    ['env in dev', "unable to parse requirement: found 'dev' expected: '('"],
    ['env in', "unable to parse requirement: found '' expected: '('"],
    ['env in (dev', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['l in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['l in (a,=)', "unable to parse requirement: found '=', expected: ',', or identifier"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['env=!', "unable to parse requirement: found '!', expected: identifier"],
    ['env!', "unable to parse requirement: found '!', expected: in, notin, =, ==, !=, gt, lt"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['-env=x', `unable to parse requirement: <nil>: Invalid value: "-env": ${KEY}`],
    ['/x=1', 'unable to parse requirement: <nil>: Invalid value: "/x": prefix part must be non-empty'],
    ['env=-x', `unable to parse requirement: values[0][env]: Invalid value: "-x": ${VALUE}`],
    [
      'env in (a,b_,-c)',
      `unable to parse requirement: [values[0][env]: Invalid value: "-c": ${VALUE}, values[2][env]: Invalid value: "b_": ${VALUE}]`,
    ],
    [
      'n>x',
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])('%j cannot be read', (text, error) => {
    expect(parseLabelSelector(text)).toEqual({ ok: false, error })
  })

  it('round-trips', () => {
    const key = fc.constantFrom('a', 'b', 'example.com/c', 'in', 'notin')
    const value = fc.constantFrom('', 'x', 'y', '7', 'in')
    const term = fc.oneof(
      key,
      key.map(k => `!${k}`),
      fc.tuple(key, fc.constantFrom('=', '==', '!='), value).map(parts => parts.join('')),
      fc.tuple(key, fc.constantFrom('>', '<'), fc.nat()).map(parts => parts.join('')),
      fc
        .tuple(key, fc.constantFrom('in', 'notin'), fc.array(value, { minLength: 1, maxLength: 4 }))
        .map(([k, operator, values]) => `${k} ${operator} (${values.join(',')})`),
    )
    const labels = fc.dictionary(key, value, { maxKeys: 3 })
    fc.assert(
      fc.property(fc.array(term, { maxLength: 4 }), labels, (terms, some) => {
        const selector = read(terms.join(','))
        const again = read(printLabelSelector(selector))
        expect(printLabelSelector(again)).toBe(printLabelSelector(selector))
        expect(matchesLabels(again, some)).toBe(matchesLabels(selector, some))
        expect(matchesLabels(selector, some)).toBe(terms.every(one => matchesLabels(read(one), some)))
      }),
    )
  })

  it('is fast for any input', () => {
    const began = performance.now()
    for (const text of ['a,'.repeat(50_000), 'a in ('.repeat(20_000), ' '.repeat(200_000), '!='.repeat(50_000)]) {
      parseLabelSelector(text)
    }
    expect(performance.now() - began).toBeLessThan(3000)
  })
})

describe('matching', () => {
  const labels = { env: 'prod', n: '10', empty: '' }
  test.each([
    ['', true],
    ['env=prod', true],
    ['env!=prod', false],
    ['other!=x', true],
    ['env in (dev,prod)', true],
    ['env notin (dev)', true],
    ['other in (x)', false],
    ['other notin (x)', true],
    ['empty', true],
    ['empty=', true],
    ['!other', true],
    ['!env', false],
    ['constructor', false],
    ['n>9,n<11', true],
    ['n>10', false],
    ['env>1', false],
    ['other<1', false],
  ])('%j: %s', (text, matched) => {
    expect(matchesLabels(read(text), labels)).toBe(matched)
  })

  it('recognizes selectors without requirements or for one value', () => {
    expect(selectsEverything(EVERYTHING)).toBe(true)
    expect(requiredLabel(read('a=1,b in (2),c in (3,4)'), 'b')).toBe('2')
    expect(requiredLabel(read('a!=1,c in (3,4)'), 'c')).toBeUndefined()
  })
})

describe('LabelSelector objects', () => {
  it('become selectors', () => {
    const selector = selectorOf({
      matchLabels: { a: '1' },
      matchExpressions: [
        { key: 'd', operator: 'DoesNotExist' },
        { key: 'b', operator: 'In', values: ['y', 'x'] },
      ],
    })
    expect(selector.ok && printLabelSelector(selector.value)).toBe('a=1,b in (x,y),!d')
  })

  it('select nothing when absent, everything when empty', () => {
    const [absent, empty] = [selectorOf(undefined), selectorOf({})]
    expect(absent.ok && matchesLabels(absent.value, {})).toBe(false)
    expect(empty.ok && matchesLabels(empty.value, {})).toBe(true)
  })

  test.each([
    [{ matchExpressions: [{ key: 'a', operator: 'Odd' }] }, '"Odd" is not a valid label selector operator'],
    [
      { matchExpressions: [{ key: 'a', operator: 'In' }] },
      "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] },
      'values: Invalid value: ["x"]: values set must be empty for exists and does not exist',
    ],
  ])('%j cannot be one', (object, error) => {
    expect(selectorOf(object)).toEqual({ ok: false, error })
  })

  it('are checked field by field', () => {
    const errors: FieldError[] = checkLabelSelector(
      {
        matchLabels: { '/a': '1' },
        matchExpressions: [
          { key: 'a', operator: 'In' },
          { key: 'a', operator: 'Exists', values: ['x'] },
          { key: '/b', operator: 'Odd' },
        ],
      },
      'spec.selector',
    )
    expect(errors.map(printFieldError)).toEqual([
      'spec.selector.matchLabels: Invalid value: "/a": prefix part must be non-empty',
      "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      'spec.selector.matchExpressions[2].operator: Invalid value: "Odd": not a valid selector operator',
      'spec.selector.matchExpressions[2].key: Invalid value: "/b": prefix part must be non-empty',
    ])
  })
})
