import { describe, expect, test } from 'vitest'
import { decodeAnnotatedList, TAINT, TOLERATION } from './annotation-json.js'

describe('a list in an annotation', () => {
  test('is matched by the names of Go fields, in any case; other members and nulls do not count', () => {
    const text = '[{"Key":"a","OPERATOR":"Exists","effect":null,"other":1},null]'
    expect(decodeAnnotatedList(text, TOLERATION)).toEqual([{ key: 'a', operator: 'Exists' }, {}])
    expect(decodeAnnotatedList('null', TAINT)).toEqual([])
  })

  test.each([
    ['x', "invalid character 'x' looking for beginning of value"],
    ['{}', 'json: cannot unmarshal object into Go value of type []core.Toleration'],
    ['["a"]', 'json: cannot unmarshal string into Go value of type core.Toleration'],
    ['[{"key":1}]', 'json: cannot unmarshal number into Go struct field Toleration.Key of type string'],
    [
      '[{"effect":{}}]',
      'json: cannot unmarshal object into Go struct field Toleration.Effect of type core.TaintEffect',
    ],
    [
      '[{"tolerationSeconds":"1"}]',
      'json: cannot unmarshal string into Go struct field Toleration.TolerationSeconds of type int64',
    ],
  ])('%s is an error', (text, message) => {
    expect(decodeAnnotatedList(text, TOLERATION)).toBe(message)
  })
})
