import { expect, test } from 'vitest'
import { parseRequestInfo } from '../../request/request-info.js'
import type { VirtualResource } from '../../request/virtual-resource.js'
import { createVirtualRouter } from './virtual-routing.js'

const kind = (apiVersion: string, name: string, namespaced: boolean): VirtualResource =>
  ({ apiVersion, resource: { name, namespaced, kind: '', verbs: ['create'] } }) as unknown as VirtualResource

const route = createVirtualRouter([
  kind('auth.example.com/v1', 'reviews', false),
  kind('auth.example.com/v1', 'localreviews', true),
  kind('v1', 'accounts/token', true),
])

function lead(method: string, path: string, query = ''): string {
  try {
    return route(method, {}, parseRequestInfo(method, path, query))?.resource.name ?? 'elsewhere'
  } catch (error) {
    return (error as Error).message
  }
}

const NOT_HERE = 'the server could not find the requested resource'
const NOT_SO = 'the server does not allow this method on the requested resource'

test.each([
  ['POST', '/apis/auth.example.com/v1/reviews', 'reviews'],
  ['POST', '/apis/auth.example.com/v1/namespaces/x/localreviews', 'localreviews'],
  ['POST', '/api/v1/namespaces/x/accounts/a/token', 'accounts/token'],
  ['POST', '/api/v1/namespaces/x/accounts', 'elsewhere'],
  ['POST', '/apis/auth.example.com/v2/reviews', 'elsewhere'],
  ['GET', '/apis/auth.example.com/v1/reviews', NOT_SO],
  ['DELETE', '/apis/auth.example.com/v1/reviews', NOT_SO],
  ['GET', '/api/v1/namespaces/x/accounts/a/token', NOT_SO],
  ['GET', '/apis/auth.example.com/v1/reviews/a', NOT_HERE],
  ['POST', '/apis/auth.example.com/v1/namespaces/x/reviews', NOT_HERE],
  ['POST', '/apis/auth.example.com/v1/localreviews', NOT_HERE],
])('%s %s leads to %s', (method, path, expected) => {
  expect(lead(method, path)).toBe(expected)
})

test('a list of one name is a list', () => {
  expect(lead('GET', '/apis/auth.example.com/v1/reviews', 'fieldSelector=metadata.name%3Da')).toBe(NOT_SO)
})
