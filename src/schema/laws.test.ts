// Laws that hold for every schema and every value.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { copyValue, equalValues, getOwn, type Value, type ValueObject } from '../meta/values/value.js'
import { checkSchema } from './check/check-schema.js'
import { compileSchema } from './compiled-schema.js'
import { prune } from './shape/shape.js'
import { parseSchema } from './structure/structural.js'

const NAMES = ['a', 'b', 'c', '__proto__', 'constructor']
const name = fc.constantFrom(...NAMES)

const { value: anyValue } = fc.letrec<{ value: Value }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Value>(null, true, false, 0, 1, 5, 1.5, '', 'a', 'x'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.uniqueArray(fc.tuple(name, tie('value')), { selector: ([key]) => key, maxLength: 3 }).map(members),
  ),
}))

const scalar: fc.Arbitrary<ValueObject> = fc.constantFrom<ValueObject[]>(
  { type: 'string' },
  { type: 'string', default: 'x' },
  { type: 'string', maxLength: 1, nullable: true },
  { type: 'string', enum: ['a', 'x'] },
  { type: 'integer', minimum: 1 },
  { type: 'integer', default: 5, maximum: 5 },
  { type: 'number' },
  { type: 'boolean' },
  { 'x-kubernetes-int-or-string': true },
  { 'x-kubernetes-preserve-unknown-fields': true },
)

const { schema: anySchema } = fc.letrec<{ schema: ValueObject }>(tie => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.record({
      type: fc.constant('array'),
      items: tie('schema'),
      maxItems: fc.constantFrom(1, 2, 9),
    }) as fc.Arbitrary<ValueObject>,
    fc.record({ type: fc.constant('object'), additionalProperties: tie('schema') }) as fc.Arbitrary<ValueObject>,
    fc
      .tuple(
        fc.uniqueArray(fc.tuple(name, tie('schema')), { selector: ([key]) => key, maxLength: 4 }),
        fc.subarray(NAMES, { maxLength: 1 }),
        fc.boolean(),
      )
      .map(([properties, required, preserve]): ValueObject => {
        const schema: ValueObject = { type: 'object', properties: members(properties), required }
        if (preserve) schema['x-kubernetes-preserve-unknown-fields'] = true
        return schema
      }),
  ),
}))

const root = anySchema.map(spec => ({ type: 'object', properties: { spec } }))
const object = anyValue.map((spec): ValueObject => ({ spec }))

function members(entries: [string, Value][]): ValueObject {
  return Object.fromEntries(entries)
}

describe('laws', () => {
  test('the schemas are such as a definition may have', () => {
    fc.assert(
      fc.property(root, schema => {
        expect(checkSchema(schema, 'x').errors).toEqual([])
      }),
    )
  })

  test('pruning twice is pruning once', () => {
    fc.assert(
      fc.property(root, object, (written, sent) => {
        const schema = parseSchema(written)
        const once = copyValue(sent)
        prune(once, schema)
        const twice = copyValue(once)
        expect(prune(twice, schema)).toEqual([])
        expect(equalValues(once, twice)).toBe(true)
      }),
    )
  })

  test('what pruning names is what it dropped', () => {
    fc.assert(
      fc.property(root, object, (written, sent) => {
        const pruned = copyValue(sent)
        const names = prune(pruned, parseSchema(written))
        expect(names.length === 0).toBe(equalValues(pruned, sent))
      }),
    )
  })

  test('defaulting twice is defaulting once', () => {
    fc.assert(
      fc.property(root, object, (written, sent) => {
        const schema = compileSchema(written)
        const once = copyValue(sent)
        schema.shape(once)
        schema.default(once)
        const twice = copyValue(once)
        schema.default(twice)
        expect(equalValues(once, twice)).toBe(true)
      }),
    )
  })

  test('shaping twice changes nothing the second time', () => {
    fc.assert(
      fc.property(root, object, fc.boolean(), (written, sent, stored) => {
        const schema = compileSchema(written)
        const once = copyValue(sent)
        const { changed } = schema.shape(once, { stored, defaults: true })
        if (!changed) expect(equalValues(once, sent)).toBe(true)
        const twice = copyValue(once)
        expect(schema.shape(twice, { stored, defaults: true }).changed).toBe(false)
        expect(equalValues(once, twice)).toBe(true)
      }),
    )
  })

  test('one walk does what its steps do one after the other', () => {
    fc.assert(
      fc.property(root, object, (written, sent) => {
        const schema = compileSchema(written)
        const together = copyValue(sent)
        const { unknown } = schema.shape(together, { defaults: true })
        const apart = copyValue(sent)
        schema.default(apart)
        expect(schema.shape(apart).unknown).toEqual(unknown)
        expect(equalValues(together, apart)).toBe(true)
      }),
    )
  })

  test('what defaulting makes of an accepted value is accepted', () => {
    fc.assert(
      fc.property(root, object, (written, sent) => {
        const schema = compileSchema(written)
        const taken = copyValue(sent)
        schema.shape(taken)
        fc.pre(schema.validate(taken).length === 0)
        schema.default(taken)
        expect(schema.validate(taken)).toEqual([])
      }),
    )
  })

  test('an update is never refused for more than a create, and an unchanged spec not at all', () => {
    fc.assert(
      fc.property(root, object, object, (written, sent, old) => {
        const schema = compileSchema(written)
        const all = new Set(schema.validate(sent).map(error => JSON.stringify(error)))
        for (const error of schema.validateUpdate(sent, old)) expect(all).toContain(JSON.stringify(error))
        if (!holdsUndeclared(written, sent)) expect(schema.validateUpdate(sent, copyValue(sent))).toEqual([])
      }),
    )
  })

  test('ratcheting never accepts a changed invalid value', () => {
    fc.assert(
      fc.property(scalar, anyValue, anyValue, (part, value, old) => {
        fc.pre(!equalValues(value, old))
        const schema = compileSchema({ type: 'object', properties: { spec: { type: 'object', properties: { part } } } })
        const sent = { spec: { part: value } }
        expect(schema.validateUpdate(sent, { spec: { part: old } })).toEqual(schema.validate(sent))
      }),
      // An error that quotes its value.
      { examples: [[{ type: 'string', enum: ['a', 'x'] }, '', null]] },
    )
  })

  test('in no schema does ratcheting forgive a value that is not what it was', () => {
    fc.assert(
      fc.property(root, object, object, (written, sent, old) => {
        const schema = compileSchema(written)
        const errors = new Set(schema.validateUpdate(sent, old).map(error => JSON.stringify(error)))
        for (const error of schema.validate(sent)) {
          const [now, before] = [valueAt(sent, error.field), valueAt(old, error.field)]
          if (now !== undefined && !equalValues(now, before)) expect(errors).toContain(JSON.stringify(error))
        }
      }),
    )
  })
})

/** The value at the field of an error. */
function valueAt(value: Value, field: string): Value | undefined {
  let found: Value | undefined = value
  for (const [step] of field.matchAll(/[^.[\]]+/g)) {
    if (typeof found !== 'object' || found === null) return undefined
    found = getOwn(found as ValueObject, step)
  }
  return found
}

/** Objects with members that no schema tells of never count as unchanged. */
function holdsUndeclared(written: ValueObject, sent: ValueObject): boolean {
  const copy = copyValue(sent)
  const text = JSON.stringify(written)
  return text.includes('preserve') || prune(copy, parseSchema(written)).length > 0
}
