import { expect, test } from 'vitest'
import type { ValueObject } from '../meta/values/value.js'
import { compileSchema } from './compiled-schema.js'

test('defaults of embedded resources lose metadata that ObjectMeta does not have', () => {
  const schema = compileSchema({
    type: 'object',
    properties: {
      pod: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        properties: { metadata: { type: 'object', default: { name: 'a', unknown: 'b' } } },
      },
      whole: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        default: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', unknown: 'b' } },
      },
    },
  })
  const object: ValueObject = { pod: {} }
  schema.default(object)
  expect(object).toEqual({
    pod: { metadata: { name: 'a' } },
    whole: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } },
  })
})
