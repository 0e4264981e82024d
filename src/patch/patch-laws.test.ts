// What holds of patches of any value, checked on random ones.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { equalValues, isObject, setOwn, type Value, type ValueObject, WholeFloat } from '../meta/values/value.js'
import { typeTable } from '../types/type-table.js'
import { applyJsonPatch, parseJsonPatch } from './json-patch.js'
import { applyMergePatch } from './merge-patch.js'
import { PatchError } from './patch-error.js'
import { applyStrategicMergePatch } from './strategic-merge/strategic-merge.js'

const key = fc.constantFrom('a', 'b', 'c', '', '0', 'a/b', '~', '__proto__', 'constructor')
const scalar: fc.Arbitrary<Value> = fc.oneof(
  fc.constantFrom<Value>(null, true, 0, 1.5, 9007199254740993n, new WholeFloat(2), '', 'text', '<&>'),
  fc.integer(),
  fc.string({ maxLength: 3, unit: 'binary' }).filter(text => text.isWellFormed()),
)

const objectOf = (members: [string, Value][]): ValueObject => {
  const object: ValueObject = {}
  for (const [name, member] of members) setOwn(object, name, member)
  return object
}

const { value, object } = fc.letrec<{ value: Value; list: Value[]; object: ValueObject }>(tie => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, scalar, tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(objectOf),
}))

/** No function may change what it is given: freezing makes it throw. */
function frozen<T extends Value>(tree: T): T {
  if (typeof tree === 'object' && tree !== null) {
    Object.values(tree).forEach(part => frozen(part as Value))
    Object.freeze(tree)
  }
  return tree
}

const expectEqual = (actual: Value, expected: Value): void => {
  if (!equalValues(actual, expected)) expect(actual).toStrictEqual(expected)
}

const escape = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1')

interface Place {
  pointer: string
  found: Value
}

/** Every place in a value, as a JSON pointer. */
function placesIn(tree: Value, at = ''): Place[] {
  const members: [string, Value][] = Array.isArray(tree)
    ? tree.map((item, index) => [String(index), item])
    : isObject(tree)
      ? Object.entries(tree)
      : []
  const places: Place[] = []
  for (const [name, found] of members) {
    const pointer = `${at}/${escape(name)}`
    places.push({ pointer, found })
    places.push(...placesIn(found, pointer))
  }
  return places
}

const patched = (tree: Value, ...operations: ValueObject[]): Value =>
  applyJsonPatch(frozen(tree), parseJsonPatch(frozen(operations)))

describe('JSON Patch', () => {
  const withPlace = object
    .filter(tree => Object.keys(tree).length > 0)
    .chain(tree => fc.record({ tree: fc.constant(tree), place: fc.constantFrom(...placesIn(tree)) }))

  test('remove undoes add', () => {
    fc.assert(
      fc.property(object, value, (tree, added) => {
        const path = '/something new'
        expectEqual(patched(tree, { op: 'add', path, value: added }, { op: 'remove', path }), tree)
      }),
    )
  })

  test('add undoes remove', () => {
    fc.assert(
      fc.property(withPlace, ({ tree, place: { pointer, found } }) => {
        const without = patched(tree, { op: 'remove', path: pointer })
        expectEqual(patched(without, { op: 'add', path: pointer, value: found }), tree)
      }),
    )
  })

  test('moving there and back changes nothing', () => {
    fc.assert(
      fc.property(withPlace, ({ tree, place: { pointer } }) => {
        const path = '/something new'
        expectEqual(patched(tree, { op: 'move', from: pointer, path }, { op: 'move', from: path, path: pointer }), tree)
      }),
    )
  })

  test('test finds what was just added, spelled in the same way', () => {
    fc.assert(
      fc.property(object, value, (tree, added) => {
        const operation = { path: '/a', value: added }
        patched(tree, { op: 'add', ...operation }, { op: 'test', ...operation })
      }),
    )
  })

  test('test finds every place of an object that has only plain texts and integers', () => {
    const isPlain = (part: Value): boolean =>
      !(part instanceof WholeFloat) && (typeof part !== 'string' || !/[<>&\u2028\u2029]/.test(part))
    fc.assert(
      fc.property(
        withPlace.filter(({ tree }) => placesIn(tree).every(({ found }) => isPlain(found))),
        ({ tree, place: { pointer, found } }) => {
          expectEqual(patched(tree, { op: 'test', path: pointer, value: found }), tree)
        },
      ),
    )
  })

  test('any operations either apply or fail as a patch does', () => {
    const pointer = fc
      .array(fc.oneof(key, fc.constantFrom('-', '-1', '+1', '01', 'x')), { maxLength: 4 })
      .map(tokens => tokens.map(token => `/${escape(token)}`).join(''))
    const op = fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'other')
    const operation = fc.record({ op, path: pointer, from: pointer, value }, { requiredKeys: ['op'] })
    fc.assert(
      fc.property(object, fc.array(operation, { maxLength: 5 }), (tree, operations) => {
        expect(isPatchFailure(() => patched(tree, ...(operations as ValueObject[])))).not.toBe('a bug')
      }),
    )
  })
})

describe('merge patch', () => {
  test('applying it twice is applying it once, but for nulls in a list that replaces an object', () => {
    fc.assert(
      fc.property(object, object.map(withoutNullsInLists), (tree, patch) => {
        const once = applyMergePatch(frozen(tree), frozen(patch))
        expectEqual(applyMergePatch(once, patch), once)
      }),
    )
  })

  test('the difference of two objects leads from one to the other', () => {
    fc.assert(
      fc.property(object.map(withoutNullMembers), object.map(withoutNullMembers), (from, to) => {
        expectEqual(applyMergePatch(frozen(from), frozen(difference(from, to))), to)
      }),
    )
  })
})

describe('strategic merge', () => {
  const types = {
    Thing: {
      fields: [
        { name: 'a', type: 'Thing' },
        { name: 'b', type: '{string}string' },
        { name: 'c', type: '[]Thing', patchStrategy: 'merge', patchMergeKey: 'name' },
        { name: 'd', type: '[]string', patchStrategy: 'merge' },
        { name: 'e', type: '[]string' },
        { name: 'name', type: 'string' },
      ],
    },
  }
  const type = typeTable({ kinds: {}, resources: {}, columns: {}, types }).byName('Thing')
  const name = fc.constantFrom<string[]>('x', 'y', 'z')
  const names = fc.uniqueArray(name)

  const { thing } = fc.letrec<{ thing: ValueObject }>(tie => ({
    thing: fc.oneof(
      { maxDepth: 3 },
      fc.constant({}),
      fc.record(
        {
          a: tie('thing'),
          b: fc.dictionary(name, fc.string({ maxLength: 2 })),
          c: fc
            .array(fc.tuple(name, tie('thing')), { maxLength: 3 })
            .map(items =>
              [...new Map(items).entries()].map(([itemName, item]) => Object.assign({}, item, { name: itemName })),
            ),
          d: names,
          e: names,
        },
        { requiredKeys: [] },
      ),
    ),
  }))
  const merged = (tree: ValueObject, patch: ValueObject): ValueObject =>
    applyStrategicMergePatch(frozen(tree), frozen(patch), type)

  test('a patch without directives applied twice is the same as once', () => {
    fc.assert(
      fc.property(thing, thing, (tree, patch) => {
        const once = merged(tree, patch)
        expectEqual(merged(once, patch), once)
      }),
    )
  })

  test('an empty patch and the object itself change nothing', () => {
    fc.assert(
      fc.property(thing, tree => {
        expectEqual(merged(tree, {}), tree)
        expectEqual(merged(tree, tree), tree)
      }),
    )
  })

  test('merged lists hold what either holds, once, in the order of the patch', () => {
    fc.assert(
      fc.property(names, names, (live, patch) => {
        const result = merged({ d: live }, { d: patch })['d'] as string[]
        expect(result.toSorted()).toEqual([...new Set([...live, ...patch])].toSorted())
        expect(result.filter(item => patch.includes(item))).toEqual(patch)
      }),
    )
  })

  test('$setElementOrder decides about what it names', () => {
    fc.assert(
      fc.property(names, names, (live, order) => {
        fc.pre(live.length > 0)
        const result = merged({ d: live }, { '$setElementOrder/d': order })['d'] as string[]
        expect(result.filter(item => order.includes(item))).toEqual(order.filter(item => live.includes(item)))
        expect(result.toSorted()).toEqual(live.toSorted())
      }),
    )
  })

  test('anything either applies or fails as a patch does', () => {
    const directives = fc.dictionary(
      fc.constantFrom(
        '$patch',
        '$retainKeys',
        '$setElementOrder/c',
        '$setElementOrder/d',
        '$deleteFromPrimitiveList/d',
        'c',
        'd',
        'a',
        'b',
        '$setElementOrder',
      ),
      fc.oneof(
        value,
        fc.constantFrom<Value>('delete', 'replace', ['x'], [{ name: 'x' }], [{ name: 'x', $patch: 'delete' }]),
      ),
    )
    fc.assert(
      fc.property(thing, directives, (tree, patch) => {
        expect(isPatchFailure(() => merged({ ...tree, c: [{ name: 'x' }], d: ['x'] }, patch as ValueObject))).not.toBe(
          'a bug',
        )
      }),
    )
  })
})

/** Whether it fails, and if so as a patch may. */
function isPatchFailure(action: () => unknown): boolean | 'a bug' {
  try {
    action()
    return false
  } catch (error) {
    return error instanceof PatchError || 'a bug'
  }
}

/** Merge patches cannot say null. */
function withoutNullMembers<T extends Value>(tree: T): T
function withoutNullMembers(tree: Value): Value {
  if (Array.isArray(tree)) return tree.map(item => withoutNullMembers(item))
  if (!isObject(tree)) return tree
  return objectOf(
    Object.entries(tree)
      .filter(([, member]) => member !== null)
      .map(([memberName, member]) => [memberName, withoutNullMembers(member)]),
  )
}

function withoutNullsInLists(tree: ValueObject): ValueObject {
  return objectOf(
    Object.entries(tree).map(([name, member]) => [
      name,
      isObject(member) ? withoutNullsInLists(member) : withoutNullMembers(member),
    ]),
  )
}

/** The merge patch that leads from one object to another. */
function difference(from: ValueObject, to: ValueObject): ValueObject {
  const changes: [string, Value][] = []
  for (const name of Object.keys(from)) if (!Object.hasOwn(to, name)) changes.push([name, null])
  for (const [name, next] of Object.entries(to)) {
    const current = Object.hasOwn(from, name) ? from[name]! : null
    if (isObject(current) && isObject(next)) changes.push([name, difference(current, next)])
    else if (!equalValues(current, next)) changes.push([name, next])
  }
  return objectOf(changes)
}
