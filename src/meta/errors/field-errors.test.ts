import { describe, expect, it, test } from 'vitest'
import { WholeFloat } from '../values/value.js'
import {
  asString,
  asStruct,
  asTypedText,
  childPath,
  type FieldError,
  fieldDuplicate,
  fieldForbidden,
  fieldInternal,
  fieldInvalid,
  fieldNotFound,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  fieldTypeInvalid,
  indexPath,
  keyPath,
  printFieldError,
  printFieldErrorBody,
  printFieldErrors,
} from './field-errors.js'

test('paths are built step by step', () => {
  const containers = childPath(childPath('', 'spec'), 'containers')
  expect(childPath(indexPath(containers, 0), 'name')).toBe('spec.containers[0].name')
  expect(keyPath('metadata.labels', 'a.b/c')).toBe('metadata.labels[a.b/c]')
})

describe('the message of', () => {
  test.each<[string, FieldError, string]>([
    ['a missing value', fieldRequired('spec'), 'Required value'],
    ['a missing value, with advice', fieldRequired('spec', 'must be set'), 'Required value: must be set'],
    ['a text', fieldInvalid('f', 'x"y', 'no'), 'Invalid value: "x\\"y": no'],
    // Go's `%q` for a string, JSON for a text that has a type of its own.
    ['odd characters', fieldInvalid('f', '<\x00\x7f', 'no'), 'Invalid value: "<\\x00\\x7f": no'],
    ['a typed text', fieldInvalid('f', asTypedText('<\x00\x7f'), 'no'), 'Invalid value: "\\u003c\\u0000\x7f": no'],
    ['an unsupported text', fieldNotSupported('f', '<\x00', []), 'Unsupported value: "\\u003c\\u0000"'],
    ['an unsupported string', fieldNotSupported('f', asString('<\x00'), []), 'Unsupported value: "<\\x00"'],
    ['a number', fieldInvalid('f', -1, 'no'), 'Invalid value: -1: no'],
    ['a large number', fieldInvalid('f', 9007199254740993n, 'no'), 'Invalid value: 9007199254740993: no'],
    ['a float', fieldInvalid('f', 1000000.5, 'no'), 'Invalid value: 1.0000005e+06: no'],
    ['a whole float', fieldInvalid('f', new WholeFloat(1e22), 'no'), 'Invalid value: 1e+22: no'],
    ['a boolean', fieldInvalid('f', true, 'no'), 'Invalid value: true: no'],
    ['null', fieldInvalid('f', null, 'no'), 'Invalid value: null: no'],
    ['an object', fieldInvalid('f', { b: '<', a: 1 }, 'no'), 'Invalid value: {"a":1,"b":"\\u003c"}: no'],
    ['a struct', fieldInvalid('f', asStruct({ b: 1, a: 1 }), 'no'), 'Invalid value: {"b":1,"a":1}: no'],
    ['an object that looks like ours', fieldInvalid('f', { text: 'x' }, ''), 'Invalid value: {"text":"x"}'],
    ['a list', fieldInvalid('f', ['a', 'b'], 'no'), 'Invalid value: ["a","b"]: no'],
    ['no value', fieldInvalid('f', undefined, 'failed rule: self > 0'), 'Invalid value: failed rule: self > 0'],
    ['a wrong type', fieldTypeInvalid('f', 'string', 'must be integer'), 'Invalid value: "string": must be integer'],
    ['an unknown value', fieldNotSupported('f', 'X', ['B', 'A']), 'Unsupported value: "X": supported values: "B", "A"'],
    ['unknown values', fieldNotSupported('f', ['X'], ['All']), 'Unsupported value: ["X"]: supported values: "All"'],
    ['an unknown value without help', fieldNotSupported('f', 'X', []), 'Unsupported value: "X"'],
    ['a duplicate', fieldDuplicate('f', { name: 'a' }), 'Duplicate value: {"name":"a"}'],
    ['a duplicate without value', fieldDuplicate('f', undefined), 'Duplicate value'],
    ['something not found', fieldNotFound('f', 'volume'), 'Not found: "volume"'],
    ['something forbidden', fieldForbidden('f', 'not here'), 'Forbidden: not here'],
    ['too long', fieldTooLong('f', 128), 'Too long: may not be more than 128 bytes'],
    ['too long by one', fieldTooLong('f', 1), 'Too long: may not be more than 1 byte'],
    ['too long without limit', fieldTooLong('f', -1), 'Too long: value is too long'],
    ['too many', fieldTooMany('f', 65, 64), 'Too many: 65: must have at most 64 items'],
    ['too many for one', fieldTooMany('f', 2, 1), 'Too many: 2: must have at most 1 item'],
    ['too many without limit', fieldTooMany('f', -1, -1), 'Too many: has too many items'],
    ['an error of the server', fieldInternal('f', 'broken'), 'Internal error: broken'],
  ])('%s', (_, error, body) => {
    expect(printFieldErrorBody(error)).toBe(body)
    expect(printFieldError(error)).toBe(`${error.field}: ${body}`)
  })
})

describe('several errors', () => {
  const a = fieldRequired('a')
  const b = fieldRequired('b')

  it('are in brackets', () => {
    expect(printFieldErrors([a, b])).toBe('[a: Required value, b: Required value]')
  })

  it('are printed once each', () => {
    expect(printFieldErrors([a, a])).toBe('a: Required value')
  })

  it('of the root have no field', () => {
    expect(printFieldErrors([fieldInvalid('', null, 'no')])).toBe('<nil>: Invalid value: null: no')
  })
})
