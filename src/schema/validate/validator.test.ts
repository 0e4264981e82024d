import { expect, test } from 'vitest'
import { printFieldError } from '../../meta/errors/field-errors.js'
import type { ValueObject } from '../../meta/values/value.js'
import { compileSchema } from '../compiled-schema.js'

test('an object of too many or too few properties is validated all the same', () => {
  const schema = compileSchema({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        maxProperties: 1,
        required: ['z'],
        properties: {
          a: { type: 'string' },
          c: { type: 'object', minProperties: 2, properties: { q: { type: 'string' } }, required: ['w'] },
        },
      },
    },
  })
  expect(schema.validate({ spec: { a: 1, c: { q: 1 } } }).map(printFieldError)).toEqual([
    'spec: Too many: 2: must have at most 1 item',
    'spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"',
    'spec.c: Invalid value: 1: spec.c in body should have at least 2 properties',
    'spec.c.q: Invalid value: "integer": spec.c.q in body must be of type string: "integer"',
    'spec.c.w: Required value',
    'spec.z: Required value',
  ])
})

test('apiVersion and kind are not ratcheted', () => {
  const pattern = { type: 'string', pattern: '^x$' }
  const schema = compileSchema({
    type: 'object',
    properties: { apiVersion: pattern, kind: pattern, spec: { type: 'object', properties: { a: pattern } } },
  })
  const object: ValueObject = { apiVersion: 'b', kind: 'b', spec: { a: 'b' } }
  expect(schema.validate(object).map(({ field }) => field)).toEqual(['apiVersion', 'kind', 'spec.a'])
  expect(schema.validateUpdate(object, { ...object }).map(({ field }) => field)).toEqual(['apiVersion', 'kind'])
})
