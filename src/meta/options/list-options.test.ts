import { describe, expect, it, test } from 'vitest'
import { StatusError } from '../errors/status.js'
import { parseGetOptions, parseListOptions } from './list-options.js'
import { queryInteger, querySwitch, queryTimeout } from './query.js'

const query = (text: string): URLSearchParams => new URLSearchParams(text)

function reasonOf(read: () => unknown): { code: number | undefined; message: string } {
  try {
    read()
  } catch (error) {
    if (error instanceof StatusError) return { code: error.status.code, message: error.message }
    throw error
  }
  throw new Error('no error was thrown')
}

describe('parameters', () => {
  test.each([
    ['', undefined],
    ['watch', true],
    ['watch=', true],
    ['watch=1', true],
    ['watch=yes', true],
    ['watch=false', false],
    ['watch=False', false],
    ['watch=0', false],
    ['watch=true&watch=false', true],
    ['Watch=true', undefined],
  ])('the switch of %j is %s', (text, value) => {
    expect(querySwitch(query(text), 'watch')).toBe(value)
  })

  it('are integers, with a maximum of 2^53', () => {
    expect(queryInteger(query('n=%2B1&n=2'), 'n')).toEqual({ ok: true, value: 1 })
    expect(queryInteger(query('n=9223372036854775807'), 'n')).toEqual({ ok: true, value: Number.MAX_SAFE_INTEGER })
    expect(queryInteger(query(''), 'n')).toEqual({ ok: true, value: undefined })
    expect(queryInteger(query('n='), 'n')).toMatchObject({ error: 'strconv.ParseInt: parsing "": invalid syntax' })
  })

  it('may limit the time of the request', () => {
    expect(queryTimeout(query('timeout=1h'))).toEqual({ ok: true, value: 3_600_000 })
    expect(queryTimeout(query(''))).toEqual({ ok: true, value: undefined })
    expect(queryTimeout(query('timeout=nonsense'))).toEqual({
      ok: false,
      error: 'invalid timeout specified in the request URL - time: invalid duration "nonsense"',
    })
  })
})

describe('list options', () => {
  it('have defaults', () => {
    expect(parseListOptions(query('unknown=1'))).toEqual({
      labelSelector: [],
      fieldSelector: [],
      watch: false,
      allowWatchBookmarks: false,
      resourceVersion: '',
      resourceVersionMatch: '',
      limit: 0,
      continue: '',
    })
  })

  it('are parsed', () => {
    const options = parseListOptions(
      query(
        'labelSelector=a+in+(b)&fieldSelector=metadata.name%3Dx&limit=5&continue=c&resourceVersion=7&timeoutSeconds=3',
      ),
    )
    expect(options).toMatchObject({ limit: 5, continue: 'c', resourceVersion: '7', timeoutSeconds: 3 })
    expect(options.labelSelector).toEqual([{ key: 'a', operator: 'in', values: ['b'] }])
    expect(options.fieldSelector).toEqual([{ field: 'metadata.name', operator: '=', value: 'x' }])
  })

  test.each([
    ['watch=true', true],
    ['watch=true&resourceVersion=0', true],
    ['watch=true&resourceVersion=5', undefined],
    ['watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan', false],
    ['', undefined],
  ])('%j sends initial events: %s', (text, sends) => {
    expect(parseListOptions(query(text)).sendInitialEvents).toBe(sends)
  })

  test.each([
    ['limit=abc', 'strconv.ParseInt: parsing "abc": invalid syntax'],
    ['timeoutSeconds=', 'strconv.ParseInt: parsing "": invalid syntax'],
    ['labelSelector==x', "found '=', expected: !, identifier, or 'end of string'"],
    ['fieldSelector=a', "invalid selector: 'a'; can't understand 'a'"],
    ['limit=x&labelSelector==x', 'strconv.ParseInt: parsing "x": invalid syntax'],
  ])('%j is a bad request', (text, message) => {
    expect(reasonOf(() => parseListOptions(query(text)))).toEqual({ code: 400, message })
  })

  const M = 'resourceVersionMatch: '
  const NO_VERSION = `${M}Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`
  const WITH_CONTINUE = `${M}Forbidden: resourceVersionMatch is forbidden when continue is provided`
  const NEEDS_MATCH = `${M}Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`
  const NEEDS_EVENTS = `${M}Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`
  test.each([
    ['resourceVersionMatch=Exact', NO_VERSION],
    [
      'resourceVersion=0&resourceVersionMatch=Exact',
      `${M}Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
    ],
    [
      'resourceVersion=5&resourceVersionMatch=Newest',
      `${M}Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""`,
    ],
    ['resourceVersion=5&resourceVersionMatch=Exact&continue=x', WITH_CONTINUE],
    ['resourceVersionMatch=NotOlderThan&continue=x', `[${NO_VERSION}, ${WITH_CONTINUE}]`],
    ['sendInitialEvents=true', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
    ['watch=true&sendInitialEvents=true', NEEDS_MATCH],
    [
      'watch=true&sendInitialEvents=true&resourceVersionMatch=Exact',
      `[${NEEDS_MATCH}, ${M}Unsupported value: "Exact": supported values: "NotOlderThan"]`,
    ],
    ['watch=true&resourceVersionMatch=NotOlderThan', NEEDS_EVENTS],
    ['watch=true&continue=x', WITH_CONTINUE],
  ])('%j is invalid', (text, why) => {
    const message = `ListOptions.meta.k8s.io "" is invalid: ${why}`
    expect(reasonOf(() => parseListOptions(query(text)))).toEqual({ code: 422, message })
  })

  it('ignore a continue token of a watch from a version', () => {
    expect(parseListOptions(query('watch=true&resourceVersion=5&continue=x')).continue).toBe('x')
  })
})

it('get options are a version, and no export', () => {
  expect(parseGetOptions(query('resourceVersion=5&export=false'))).toEqual({ resourceVersion: '5' })
  expect(reasonOf(() => parseGetOptions(query('export=true')))).toEqual({
    code: 400,
    message: 'the export parameter, deprecated since v1.14, is no longer supported',
  })
})
