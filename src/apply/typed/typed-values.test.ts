import { describe, expect, test } from 'vitest'
import type { Value, ValueObject } from '../../meta/values/value.js'
import { mergeTypeOf } from '../../types/merge.js'
import { builtinTypes } from '../../types/type-table.js'
import { customMergeType } from '../custom-merge-type.suite.js'
import { emptyObject } from '../managed-type.js'
import { printPath } from '../paths/field-path.js'
import { type FieldSet, fieldSet, pathsOf } from '../paths/field-set.js'
import { compareTyped } from './compare.js'
import { mergeTyped } from './merge.js'
import { fieldsOf } from './owned-fields.js'
import { removeItems } from './remove-items.js'
import { underCurrentType } from './schema-change.js'
import { noString, TypedError } from './typed-errors.js'
import { checkTyped } from './validate.js'

const text = { type: 'string' }
const properties: ValueObject = {
  s: text,
  n: { type: 'integer' },
  b: { type: 'boolean' },
  when: { type: 'string', format: 'date-time' },
  list: { type: 'array', items: text },
  set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
  items: {
    type: 'array',
    items: { type: 'object', properties: { name: text, kind: { type: 'string', default: 'd' }, v: text } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name', 'kind'],
  },
  byTwo: {
    type: 'array',
    items: { type: 'object', properties: { to: text, from: text, v: text } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['to', 'from'],
  },
  byKind: {
    type: 'array',
    items: { type: 'object', properties: { kind: { type: 'string', default: 'd' }, v: text } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['kind'],
  },
  obj: { type: 'object', properties: { x: text, y: text } },
  map: { type: 'object', additionalProperties: text },
  whole: { type: 'object', properties: { x: text }, 'x-kubernetes-map-type': 'atomic' },
  any: { 'x-kubernetes-preserve-unknown-fields': true },
  either: { 'x-kubernetes-int-or-string': true },
}
const type = customMergeType({ type: 'object', properties })

const printed = (set: FieldSet): string[] => [...pathsOf(set)].map(printPath)

const errorsOf = (value: Value, allowDuplicates = false): string => {
  try {
    checkTyped(type, value, { allowDuplicates })
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

describe('validation', () => {
  test.each([
    [{ s: 1 }, '.s: expected string, got &value.valueUnstructured{Value:1}'],
    [{ s: 1.5 }, '.s: expected string, got &value.valueUnstructured{Value:1.5}'],
    [{ s: true }, '.s: expected string, got &value.valueUnstructured{Value:true}'],
    [
      { s: ['a', null] },
      '.s: expected string, got &value.valueUnstructured{Value:[]interface {}{"a", interface {}(nil)}}',
    ],
    [{ n: 'x' }, '.n: expected numeric (int or float), got string'],
    [{ n: { a: 1 } }, '.n: expected numeric (int or float), got map[string]interface {}'],
    [{ b: 'true' }, '.b: expected boolean, got &{true}'],
    [{ when: [] }, '.when: expected any scalar, got &{[]}'],
    [{ list: { a: 1, b: [2] } }, '.list: expected list, got &{map[a:1 b:[2]]}'],
    [{ obj: [1, 'x'] }, '.obj: expected map, got &{[1 x]}'],
    [{ list: ['a', 2] }, '.list[1]: expected string, got &value.valueUnstructured{Value:2}'],
    [{ set: ['a', 'a'] }, '.set: duplicate entries for key [="a"]'],
    [
      { set: ['a', 'a', 'a'] },
      'errors:\n  .set: duplicate entries for key [="a"]\n  .set: duplicate entries for key [="a"]',
    ],
    [{ set: [null] }, ".set: element 0: associative list without keys has an element that's an explicit null"],
    [{ set: [[]] }, '.set: element 0: not supported: associative list with lists as elements'],
    [{ items: [{ name: 'a' }, { name: 'a', kind: 'd' }] }, '.items: duplicate entries for key [kind="d",name="a"]'],
    [
      { byTwo: [{ v: 'a' }] },
      '.byTwo: element 0: associative list with keys has an element that omits all key fields ["to" "from"] ' +
        "(and doesn't have default values for any key fields)",
    ],
    [{ items: [{ name: 'a', no: 1 }] }, '.items[kind="d",name="a"].no: field not declared in schema'],
    [{ nope: 1, s: 1 }, '.nope: field not declared in schema'],
    [{ any: { x: [{ y: null }] }, either: 'x', s: null, list: null, obj: null }, ''],
    [JSON.parse('{"obj":{"__proto__":1}}') as Value, '.obj.__proto__: field not declared in schema'],
  ])('%j', (value, message) => {
    expect(errorsOf(value)).toBe(message)
  })

  test('what is stored may hold items twice', () => {
    expect(errorsOf({ set: ['a', 'a'] }, true)).toBe('')
  })

  test('a value that is nested too deeply is a fault, not a crash', () => {
    let value: Value = 'x'
    for (let i = 0; i < 10_000; i++) value = { f: value }
    expect(errorsOf({ any: value })).toMatch(/nested more than 1000 deep$/)
  })
})

describe('the fields that a value sets', () => {
  test.each([
    ['scalars and atomic parts as one', { s: '1', list: ['a'], whole: { x: '1' } }, ['.list', '.s', '.whole']],
    ['declared objects by what is in them', { obj: { x: '1' } }, ['.obj.x']],
    ['objects with nothing in them, and null', { obj: {}, map: null }, ['.map', '.obj']],
    ['members of sets, and no empty sets', { set: ['b', 'a'] }, ['.set[="a"]', '.set[="b"]']],
    ['no empty lists but atomic ones', { set: [], items: [], list: [] }, ['.list']],
    [
      'items with their fields',
      { items: [{ name: 'a', v: '1' }] },
      ['.items[kind="d",name="a"]', '.items[kind="d",name="a"].name', '.items[kind="d",name="a"].v'],
    ],
    ['undeclared objects with what is in them', { any: { o: { p: 1 } } }, ['.any.o', '.any.o.p']],
  ])('%s', (_, value, paths) => {
    expect(printed(fieldsOf(type, value))).toEqual(paths)
  })

  test('what was the same before is the very same', () => {
    const value = { s: 'a', items: [{ name: 'a', v: '1' }, { name: 'b' }], map: { k: 'v' } }
    const before = fieldsOf(type, value)
    expect(fieldsOf(type, { ...value, s: 'b' }, before)).toBe(before)
    const more = fieldsOf(type, { ...value, map: { k: 'v', l: 'w' } }, before)
    expect(printed(more)).toEqual(printed(fieldsOf(type, { ...value, map: { k: 'v', l: 'w' } })))
    expect(more.get('f:items')).toBe(before.get('f:items'))
  })
})

describe('comparing', () => {
  test.each<[string, Value, Value, { added?: string[]; modified?: string[]; removed?: string[] }]>([
    ['what comes comes with all that is in it', {}, { obj: { x: '1' } }, { added: ['.obj', '.obj.x'] }],
    ['what goes goes with all that is in it', { map: { k: 'v' } }, {}, { removed: ['.map', '.map.k'] }],
    ['an object that is filled has not changed itself', { obj: {} }, { obj: { x: '1' } }, { added: ['.obj.x'] }],
    [
      'atomic parts change as one',
      { list: ['a'], whole: { x: '1' } },
      { list: ['b'], whole: {} },
      { modified: ['.list', '.whole'] },
    ],
    ['the order of a set does not count', { set: ['a', 'b'] }, { set: ['b', 'a'] }, {}],
    [
      'items are found by their key',
      { items: [{ name: 'a', v: '1' }] },
      { items: [{ name: 'b' }, { name: 'a', kind: 'd', v: '2' }] },
      {
        added: ['.items[kind="d",name="b"]', '.items[kind="d",name="a"].kind', '.items[kind="d",name="b"].name'],
        modified: ['.items[kind="d",name="a"].v'],
      },
    ],
    [
      'an item that is there twice counts as one',
      { set: ['a'] },
      { set: ['a', 'a'] },
      { added: ['.set[="a"]'], removed: ['.set[="a"]'] },
    ],
    ['no longer twice', { set: ['a', 'a'] }, { set: ['a'] }, { added: ['.set[="a"]'], removed: ['.set[="a"]'] }],
    [
      'an item that leaves out its key is one with that of the default',
      { byKind: [{ v: '1' }, { kind: 'd', v: '2' }] },
      { byKind: [{ v: '1' }, { kind: 'd', v: '3' }] },
      { modified: ['.byKind[kind="d"]'] },
    ],
    [
      'as many members need not be the same',
      { map: { x: '1', y: '2' } },
      { map: { x: '1', constructor: '2' } },
      { added: ['.map.constructor'], removed: ['.map.y'] },
    ],
    ['empty and null are not the same', { obj: {} }, { obj: null }, { modified: ['.obj'] }],
    ['an object becomes text', { any: { x: 1 } }, { any: 'x' }, { modified: ['.any'], removed: ['.any.x'] }],
  ])('%s', (_, before, after, { added = [], modified = [], removed = [] }) => {
    const comparison = compareTyped(type, before, after)
    expect(printed(comparison.added)).toEqual(added)
    expect(printed(comparison.modified)).toEqual(modified)
    expect(printed(comparison.removed)).toEqual(removed)
  })

  test.each<[string, Value, Value]>([
    ['text for a number', { n: 'x' }, { n: 1 }],
    ['text for an object', { obj: 'x' }, { obj: { x: '1' } }],
    ['a list for an object', { obj: [] }, { obj: {} }],
    ['an undeclared field', { nope: 1 }, {}],
    ['an undeclared field of what is gone', { obj: { nope: 1 } }, {}],
    ['a member of a set that is none', { set: [null] }, { set: ['a'] }],
    ['a fault in an atomic part', { list: [1] }, { list: ['1'] }],
    ['a fault in an item that is gone', { items: [{ name: 'a', v: 1 }] }, { items: [] }],
  ])('refuses what was not of the type: %s', (_, before, after) => {
    expect(() => compareTyped(type, before, after)).toThrow(TypedError)
  })
})

const setOf = (letters: string): Value => ({ set: Array.from(letters) })

describe('merging', () => {
  test.each<[string, string, string]>([
    ['ab', 'bc', 'abc'],
    ['cab', 'abc', 'abc'],
    ['abc', 'xby', 'axbcy'],
    ['axbcy', 'cza', 'xbcyza'],
    ['xbcyza', 'yxcn', 'byzaxcn'],
    ['12', '31', '312'],
    ['', 'ab', 'ab'],
    ['ab', '', 'ab'],
    ['abcd', 'dcba', 'dcba'],
    ['axb', 'ba', 'xba'],
  ])('a set %s with %s is %s', (live, applied, merged) => {
    expect(mergeTyped(type, setOf(live), setOf(applied))).toEqual(setOf(merged))
  })

  test('an item that is there twice gives way to the one that is applied', () => {
    const live = { items: [{ name: 'a', v: '1' }, { name: 'b' }, { name: 'a', v: '2' }] }
    const merged = { items: [{ name: 'a' }, { name: 'b' }] }
    expect(mergeTyped(type, live, { items: [{ name: 'a' }] })).toEqual(merged)
  })

  test('null takes the place of a scalar, and leaves objects as they are', () => {
    expect(mergeTyped(type, { s: '1', any: { x: 1 } }, { s: null, any: null })).toEqual({ s: null, any: { x: 1 } })
  })

  test('__proto__ is a field like any other', () => {
    const live = JSON.parse('{"any":{"__proto__":{"a":1}}}') as Value
    const applied = JSON.parse('{"any":{"__proto__":{"b":2}}}') as Value
    const merged = mergeTyped(type, live, applied)
    expect(JSON.stringify(merged)).toBe('{"any":{"__proto__":{"a":1,"b":2}}}')
    expect(printed(fieldsOf(type, applied))).toEqual(['.any.__proto__', '.any.__proto__.b'])
    expect(({} as ValueObject)['b']).toBeUndefined()
  })
})

describe('removing', () => {
  test('what has nothing left becomes null; other items stay', () => {
    const value = { obj: { x: '1' }, set: ['a', 'b'], items: [{ name: 'a', v: '1' }] }
    const fields = fieldSet(['f:obj', 'f:x'], ['f:set', 'v:"a"'], ['f:items', 'k:{"kind":"d","name":"a"}', 'f:v'])
    expect(removeItems(type, value, fields)).toEqual({ obj: null, set: ['b'], items: [{ name: 'a' }] })
  })
})

describe('a type that changed', () => {
  test('fields in what has become atomic are owned as one', () => {
    const owned = fieldSet(['f:whole', 'f:x'], ['f:list', 'v:"a"'], ['f:obj', 'f:x'], ['f:gone', 'f:x'])
    expect(printed(underCurrentType(owned, type))).toEqual(['.list', '.whole', '.gone.x', '.obj.x'])
  })

  test('what fits is left alone', () => {
    const owned = fieldSet(['f:whole'], ['f:set', 'v:"a"'], ['f:any', 'f:x', 'f:y'])
    expect(underCurrentType(owned, type)).toBe(owned)
  })
})

describe('the built-in types', () => {
  const deployment = mergeTypeOf(builtinTypes().byName('apps/v1.Deployment'))

  test('tell containers apart by name and their ports by port and protocol', () => {
    const spec = { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] }
    expect(printed(fieldsOf(deployment, { spec: { template: { spec } } }))).toContain(
      '.spec.template.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"].containerPort',
    )
  })

  test('own selectors as one', () => {
    expect(printed(fieldsOf(deployment, { spec: { selector: { matchLabels: { a: 'b' } } } }))).toEqual([
      '.spec.selector',
    ])
  })

  test('merge a reference by field where the field that holds it says so', () => {
    const volume = mergeTypeOf(builtinTypes().byName('core/v1.PersistentVolume'))
    const spec = { claimRef: { name: 'c' }, azureFile: { secretName: 's' } }
    expect(printed(fieldsOf(volume, { spec }))).toContain('.spec.claimRef.name')
  })

  test('have their structs even when nothing is set', () => {
    expect(emptyObject(builtinTypes().byName('apps/v1.Deployment'), 'apps/v1', 'Deployment')).toMatchObject({
      spec: { strategy: {} },
      status: {},
    })
  })

  test('look into themselves only as far as a value goes', () => {
    const crd = mergeTypeOf(builtinTypes().byName('apiextensions/v1.CustomResourceDefinition'))
    const nested = { properties: { a: { properties: { b: { type: 'string' } } } } }
    const object = { spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: nested } }] } }
    expect(() => checkTyped(crd, object, { allowDuplicates: false })).not.toThrow()
  })
})

test('a value that is nested deeply is printed to a depth', () => {
  let value: Value = 'a'
  for (let i = 0; i < 9_000; i++) value = i % 2 === 0 ? [value] : { a: value }
  expect(noString(value).message).toMatch(/interface \{\}\{\.\.\.\}|:\.\.\.\}/)
})
