import { expect, test } from 'vitest'
import type { ValueObject } from '../meta/values/value.js'
import { convertV2 } from './convert-v2.js'

const THING = { $ref: '#/definitions/io.legacy.v1.Thing' }
const MOVED = { $ref: '#/components/schemas/io.legacy.v1.Thing' }

const convert = (members: ValueObject): ValueObject =>
  convertV2({ swagger: '2.0', info: { title: 'Legacy' }, ...members })

/** The one operation of a document. */
const operation = (given: ValueObject): unknown =>
  (convert({ paths: { '/a': { get: given } } })['paths'] as Record<string, { get: unknown }>)['/a']!.get

test('the frame of a document', () => {
  const given = {
    produces: ['application/json'],
    schemes: ['https'],
    parameters: { p: { name: 'p', in: 'query', type: 'string' } },
    responses: { r: { description: 'shared', schema: { type: 'string' } } },
    securityDefinitions: {
      b: { type: 'apiKey', name: 'authorization', in: 'header' },
      o: { type: 'oauth2', flow: 'implicit', authorizationUrl: 'https://a/', scopes: { a: 'b' } },
    },
    paths: {},
  }
  expect(convert(given)).toEqual({
    openapi: '3.0.0',
    info: { title: 'Legacy' },
    paths: {},
    components: {
      responses: { r: { description: 'shared', content: { 'application/json': { schema: { type: 'string' } } } } },
      securitySchemes: {
        b: { type: 'apiKey', name: 'authorization', in: 'header' },
        o: { type: 'oauth2', flows: { implicit: { authorizationUrl: 'https://a/', scopes: { a: 'b' } } } },
      },
    },
  })
})

test.each<[string, ValueObject, ValueObject]>([
  ['a reference', { properties: { a: THING } }, { properties: { a: MOVED } }],
  [
    'a reference with a description',
    { properties: { a: { description: 'one', ...THING } } },
    { properties: { a: { description: 'one', allOf: [MOVED] } } },
  ],
  ['items', { type: 'array', items: THING }, { type: 'array', items: MOVED }],
  ['members of any name', { additionalProperties: THING }, { additionalProperties: MOVED }],
  ['any members', { additionalProperties: true }, { additionalProperties: true }],
  ['several schemas, which stay as they are', { allOf: [THING] }, { allOf: [THING] }],
])('a definition with %s', (_, given, expected) => {
  expect(convert({ definitions: { a: given } })['components']).toEqual({ schemas: { a: expected } })
})

test('an operation', () => {
  const given = {
    operationId: 'listThings',
    description: '',
    deprecated: false,
    consumes: ['application/json', 'application/yaml'],
    produces: ['application/json'],
    'x-kubernetes-action': 'list',
    parameters: [
      { $ref: '#/parameters/p' },
      { name: 'limit', in: 'query', type: 'integer', format: 'int64', uniqueItems: true, required: false },
      { name: 'body', in: 'body', required: true, schema: THING },
    ],
    responses: {
      200: { description: 'OK', schema: THING },
      401: { description: '' },
      default: { $ref: '#/responses/r' },
    },
  }
  expect(operation(given)).toEqual({
    operationId: 'listThings',
    'x-kubernetes-action': 'list',
    parameters: [
      { $ref: '#/components/parameters/p', schema: { type: '' } },
      { name: 'limit', in: 'query', schema: { type: 'integer', format: 'int64', uniqueItems: true } },
    ],
    requestBody: { content: { 'application/json': { schema: MOVED }, 'application/yaml': { schema: MOVED } } },
    responses: {
      200: { description: 'OK', content: { 'application/json': { schema: MOVED } } },
      401: {},
      default: { $ref: '#/components/responses/r' },
    },
  })
})

test('an operation without media types has no content', () => {
  const body = { name: 'body', in: 'body', schema: { type: 'object' } }
  expect(operation({ parameters: [body], responses: { 200: { schema: THING } } })).toEqual({
    requestBody: {},
    responses: { 200: {} },
  })
})
