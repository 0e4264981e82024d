import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { atOnce } from '../base/turns.js'
import { type Value, type ValueObject, WholeFloat } from '../meta/values/value.js'
import {
  applyJsonPatch,
  applyJsonPatchInSteps,
  type JsonPatchOptions,
  jsonPatchInItsOrder,
  MAX_COPIED_BYTES,
  MAX_OPERATIONS,
  parseJsonPatch,
} from './json-patch.js'
import { PatchError } from './patch-error.js'

const REJECTED = 'the server rejected our request due to an error in our request'

const patched = (value: Value, patch: Value, options?: JsonPatchOptions): Value =>
  applyJsonPatch(value, parseJsonPatch(patch, options))

function failure(action: () => unknown): [number, string] {
  try {
    action()
  } catch (error) {
    if (error instanceof PatchError) return [error.code, error.message]
    throw error
  }
  throw new Error('it did not fail')
}

describe('json-patch-test-suite', () => {
  interface Case {
    comment?: string
    doc: Value
    patch: Value
    expected?: Value
    error?: string
    disabled?: boolean
  }
  const require = createRequire(import.meta.url)
  const cases = ['tests.json', 'spec_tests.json']
    .flatMap(file => JSON.parse(readFileSync(require.resolve(`json-patch-test-suite/${file}`), 'utf8')) as Case[])
    .filter(({ disabled }) => disabled !== true)

  // Where Kubernetes does otherwise, by the comment or patch of the case: why, and what comes of it instead,
  // `fails` if it does.
  const different: Record<string, { reason: string; outcome: Value }> = {
    '[{"op":"add","path":"/bar/-1","value":"5"}]': {
      reason: 'negative indexes count from the end, and -1 appends',
      outcome: { bar: [1, 2, '5'] },
    },
    'replacing the root of the document is possible with add': {
      reason: 'only replace and test reach the root',
      outcome: 'fails',
    },
    "missing 'value' parameter to add": { reason: 'a missing value is null', outcome: [1, null] },
    "missing 'value' parameter to replace": { reason: 'a missing value is null', outcome: [null] },
    "missing 'value' parameter to test": { reason: 'a missing value is null', outcome: [null] },
  }

  test.each(cases.map(one => [one.comment ?? JSON.stringify(one.patch), one] as const))('%s', (title, one) => {
    // As a client that has its fields ignored, so that only applying can fail.
    const run = (): Value => patched(one.doc, one.patch, { fieldValidation: 'Ignore' })
    const outcome = different[title]?.outcome ?? (one.error === undefined ? one.expected : 'fails')
    if (outcome === 'fails') expect(failure(run)).toEqual([422, REJECTED])
    else expect(run()).toEqual(outcome ?? one.doc)
  })
})

describe('reading', () => {
  test.each<[string, Value, [number, string]]>([
    [
      'an object',
      {},
      [400, 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    ],
    [
      'a whole float',
      new WholeFloat(1),
      [400, 'error decoding patch: json: cannot unmarshal number into Go value of type []handlers.jsonPatchOp'],
    ],
    [
      'a list of texts',
      ['x'],
      [400, 'error decoding patch: json: cannot unmarshal string into Go value of type handlers.jsonPatchOp'],
    ],
    [
      'a list of flags',
      [true],
      [400, 'error decoding patch: json: cannot unmarshal bool into Go value of type handlers.jsonPatchOp'],
    ],
    [
      'a path that is no text',
      [{ op: 'add', path: 5 }],
      [400, 'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string'],
    ],
    [
      'an op that is no text',
      [{ op: {}, path: 5 }],
      [400, 'error decoding patch: json: cannot unmarshal object into Go struct field jsonPatchOp.op of type string'],
    ],
  ])('refuses %s', (_, body, expected) => {
    expect(failure(() => parseJsonPatch(body))).toEqual(expected)
  })

  test('where fields are ignored, faults have other names', () => {
    const options = { fieldValidation: 'Ignore' } as const
    expect(failure(() => parseJsonPatch({}, options))).toEqual([
      400,
      'json: cannot unmarshal object into Go value of type jsonpatch.Patch',
    ])
    expect(failure(() => parseJsonPatch([5], options))).toEqual([
      400,
      'json: cannot unmarshal number into Go value of type jsonpatch.Operation',
    ])
    expect(failure(() => patched({}, [{ op: 5 }], options))).toEqual([422, REJECTED])
  })

  test('null is a patch of no operations', () => {
    expect(patched({ a: 1 }, null)).toEqual({ a: 1 })
    expect(patched({ a: 1 }, null, { text: 'null' })).toEqual({ a: 1 })
  })

  test('at most 10,000 operations are taken', () => {
    const operations = Array.from({ length: MAX_OPERATIONS }, () => ({ op: 'test', path: '/a', value: 1 }))
    expect(patched({ a: 1 }, operations)).toEqual({ a: 1 })
    expect(failure(() => parseJsonPatch([...operations, ...operations.slice(0, 1)]))).toEqual([
      413,
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    ])
  })

  test('members that no operation has are named, unless fields are ignored', () => {
    const body = [{ op: 'test', path: '/a', why: 1 }, { Op: 'x' }]
    expect(parseJsonPatch(body).strictErrors).toEqual([
      'json patch unknown field "[0].why"',
      'json patch unknown field "[1].Op"',
    ])
    expect(parseJsonPatch(body, { fieldValidation: 'Ignore' }).strictErrors).toEqual([])
  })

  test('repeated members are named with the others, operation by operation', () => {
    const body = [
      { op: 'test', path: '/a', why: {} },
      { op: 'test', path: '/a' },
    ]
    const duplicates = ['[0].path', '[0].why', '[0].why.x', '[1].path']
    expect(parseJsonPatch(body, { duplicates }).strictErrors).toEqual([
      'json patch duplicate field "[0].path"',
      'json patch unknown field "[0].why"',
      'json patch duplicate field "[1].path"',
    ])
  })
})

describe('applying', () => {
  test('replace, copy and test take a missing member for null', () => {
    expect(patched({}, [{ op: 'replace', path: '/a', value: 1 }])).toEqual({ a: 1 })
    expect(patched({}, [{ op: 'copy', from: '/a', path: '/b' }])).toEqual({ b: null })
    expect(patched({}, [{ op: 'test', path: '/a' }])).toEqual({})
  })

  test('the root may become a list', () => {
    const patch = [
      { op: 'replace', path: '', value: [1] },
      { op: 'add', path: '/-', value: 2 },
    ]
    expect(patched({ a: 1 }, patch)).toEqual([1, 2])
    expect(failure(() => patched({}, [{ op: 'replace', path: '', value: 5 }]))[0]).toBe(422)
    expect(failure(() => patched({}, [{ op: 'replace', path: '' }]))[0]).toBe(422)
  })

  test.each([
    ['/~01', '~1'],
    ['/~10', '/0'],
    ['/~1~0', '/~'],
    ['/~2', '~2'],
    ['/', ''],
    ['skipped/a', 'a'],
  ])('the pointer %s names the member %j', (path, key) => {
    expect(patched({}, [{ op: 'add', path, value: 1 }])).toEqual({ [key]: 1 })
  })

  test('names that JavaScript objects have already are ordinary', () => {
    const result = patched({}, [
      { op: 'add', path: '/__proto__', value: { polluted: true } },
      { op: 'add', path: '/__proto__/deeper', value: 1 },
      { op: 'add', path: '/constructor', value: { prototype: 1 } },
    ])
    expect(Object.getOwnPropertyNames(result)).toEqual(['__proto__', 'constructor'])
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":true,"deeper":1},"constructor":{"prototype":1}}')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    for (const path of ['/toString', '/constructor/name', '/__proto__/x']) {
      expect(failure(() => patched({}, [{ op: 'remove', path }]))[0]).toBe(422)
    }
  })

  test('a failure says what is wrong beside the general message', () => {
    const patch = [
      { op: 'test', path: '/a', value: 1 },
      { op: 'remove', path: '/b' },
    ]
    expect(() => patched({ a: 1 }, patch)).toThrow(
      expect.objectContaining({
        detail: "error in remove for path: '/b': Unable to remove nonexistent key: b: missing value",
      }),
    )
  })

  test('copies may add up to 3 MiB', () => {
    const object = { text: 'x'.repeat(MAX_COPIED_BYTES / 2 - 2) }
    const copies = (count: number): Value =>
      Array.from({ length: count }, () => ({ op: 'copy', from: '/text', path: '/copy' }))
    expect(() => patched(object, copies(2))).not.toThrow()
    expect(failure(() => patched(object, copies(3)))).toEqual([422, REJECTED])
  })

  test('doubling by copies ends early', () => {
    const patch = Array.from({ length: 10_000 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }))
    expect(failure(() => patched({ a: ['x'.repeat(1000)] }, patch))[0]).toBe(422)
  })

  test('what has more values than an object may have is not copied', () => {
    const patch = Array.from({ length: 18 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }))
    expect(() => patched({ a: [{}] }, patch)).toThrow('more than 100000 fields and list items')
    expect(patched({ a: [{}] }, [...patch.slice(0, 15), { op: 'remove', path: '/a' }])).toEqual({})
  })

  test.each<[isShared: boolean, operation: ValueObject]>([
    [true, { op: 'add', path: '/b', value: 1 }],
    [true, { op: 'copy', from: '/a', path: '/b' }],
    [false, { op: 'add', path: '/meta/b', value: 1 }],
    [false, { op: 'move', from: '/meta', path: '/b' }],
    [false, { op: 'copy', from: '/meta', path: '/b' }],
    [false, { op: 'test', path: '' }],
  ])('a member is shared with the value (%s) unless the patch concerns it: %o', (isShared, operation) => {
    const value = { a: [], meta: { c: {} } }
    const patch = parseJsonPatch([operation, { op: 'add', path: '/d', value: 1 }])
    const apply = (): Value => atOnce(applyJsonPatchInSteps(value, patch, 'meta'))
    if (operation['op'] === 'test') return expect(apply).toThrow(PatchError)
    expect((apply() as ValueObject)['meta'] === value.meta).toBe(isShared)
    expect(value).toEqual({ a: [], meta: { c: {} } })
  })

  test('a patch is applied in steps, one for each operation', () => {
    const patch = parseJsonPatch(Array.from({ length: 10 }, () => ({ op: 'add', path: '/a/-', value: 1 })))
    const steps = applyJsonPatchInSteps({ a: [] }, patch)
    const seen = Array.from({ length: 10 }, () => steps.next())
    expect(seen.every(({ done }) => done === false)).toBe(true)
    expect(atOnce(steps)).toEqual({ a: Array.from({ length: 10 }, () => 1) })
  })

  test('values may be 10,000 levels deep, and no deeper', () => {
    const nested = (depth: number): Value => {
      let value: Value = []
      for (let i = 1; i < depth; i++) value = [value]
      return value
    }
    const add = (depth: number): Value => [{ op: 'add', path: '/a', value: nested(depth) }]
    expect(() => patched({}, add(9_999))).not.toThrow()
    expect(failure(() => patched({}, add(10_000)))[0]).toBe(422)
    expect(() => patched({ a: nested(9_999) }, [{ op: 'test', path: '/a', value: nested(9_999) }])).not.toThrow()
  })
})

describe('test compares spellings', () => {
  const passes = (value: Value, text: string): boolean => {
    const body = `[{"op":"test","path":"/a","value":${text}}]`
    try {
      applyJsonPatch({ a: value }, parseJsonPatch(JSON.parse(body) as Value, { text: body }))
      return true
    } catch (error) {
      if (error instanceof PatchError) return false
      throw error
    }
  }
  test.each<[Value, string, boolean]>([
    [5, '5', true],
    [5, '5.0', false],
    [5, '5e0', false],
    [new WholeFloat(5), '5', true],
    [new WholeFloat(1e30), '1e+30', true],
    [new WholeFloat(1e30), '1e30', false],
    [1.5, '1.50', false],
    [9007199254740993n, '9007199254740993', true],
    [9007199254740993n, '9007199254740992', false],
    ['<b>', '"<b>"', false],
    ['<b>', String.raw`"\u003cb\u003e"`, true],
    ['a&b', '"a&b"', false],
    ['A', String.raw`"\u0041"`, false],
    ['\u2028', String.raw`"\u2028"`, true],
    ['"\\', String.raw`"\"\\"`, true],
    [{ x: ['<', 1], y: null }, String.raw`{ "y" : null, "x" : [ "\u003c" , 1 ] }`, true],
    [{ x: [1] }, '{"x":[1,2]}', false],
    [[null], '[null]', true],
    [null, 'null', true],
    [false, 'null', false],
  ])('%s and %s', (value, text, expected) => {
    expect(passes(value, text)).toBe(expected)
  })

  test('without the text, clients are taken to spell as most do', () => {
    const run = (a: Value, value: Value): Value => patched({ a }, [{ op: 'test', path: '/a', value }])
    expect(failure(() => run('<', '<'))[0]).toBe(422)
    expect(failure(() => run(5, new WholeFloat(5)))[0]).toBe(422)
    expect(run('plain', 'plain')).toEqual({ a: 'plain' })
  })

  test('what the same patch added keeps its spelling, what it copied is respelled', () => {
    const add = { op: 'add', path: '/a', value: '<' }
    const copy = { op: 'copy', from: '/a', path: '/b' }
    const spelledAlike = (path: string): Value => [add, copy, { op: 'test', path, value: '<' }]
    expect(patched({}, spelledAlike('/a'))).toEqual({ a: '<', b: '<' })
    expect(failure(() => patched({}, spelledAlike('/b')))[0]).toBe(422)
  })

  test('the last of repeated members counts', () => {
    const text = '[{"op":"test","path":"/a","value":2,"value":{"x":1,"x":1}}]'
    expect(applyJsonPatch({ a: { x: 1 } }, parseJsonPatch(JSON.parse(text) as Value, { text }))).toEqual({
      a: { x: 1 },
    })
  })
})

test('kube-apiserver sorts the members of objects that a pointer leads into or that are compared, and of the root', () => {
  const run = (...operations: Value[]): string =>
    JSON.stringify(
      jsonPatchInItsOrder({ b: { z: { y: 1, x: 1 }, d: [{ y: 1, x: 1 }] }, a: 1 }, parseJsonPatch(operations)),
    )
  expect(run({ op: 'add', path: '/c', value: { y: 1, x: 1 } })).toBe(
    '{"a":1,"b":{"z":{"y":1,"x":1},"d":[{"y":1,"x":1}]},"c":{"y":1,"x":1}}',
  )
  expect(run({ op: 'remove', path: '/b/d/0/x' })).toBe('{"a":1,"b":{"d":[{"y":1}],"z":{"y":1,"x":1}}}')
  expect(run({ op: 'test', path: '/b/z', value: { x: 1, y: 1 } })).toBe(
    '{"a":1,"b":{"d":[{"y":1,"x":1}],"z":{"x":1,"y":1}}}',
  )
})
