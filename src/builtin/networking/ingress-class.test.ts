import { expect, test } from 'vitest'
import { errorsOfChange, tableRowOf, validationOf } from '../written-objects.suite.js'

test.each([
  ['a.b/c', []],
  ['/c', ['must be a domain-prefixed path (such as "acme.io/foo")']],
  ['a.b/c d', ["Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"]],
  [`a.b/${'c'.repeat(250)}`, ['may not be more than 250 bytes']],
])('the controller of an ingress class: %s', (controller, details) => {
  const { create } = validationOf('networking.k8s.io/v1', 'IngressClass', false)
  expect(create({ metadata: { name: 'x' }, spec: { controller } }).map(({ detail }) => detail)).toEqual(details)
})

test('the controller of a stored class stays', () => {
  const patch = { spec: { controller: 'a.b/other' } }
  expect(errorsOfChange('networking.k8s.io/v1', 'IngressClass', { spec: { controller: 'a.b/c' } }, patch)).toContain(
    'spec.controller: Invalid value: "a.b/other": field is immutable',
  )
})

test('the row says which class is the default', () => {
  const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' }
  const parameters = { apiGroup: 'g', kind: 'K', name: 'p' }
  const object = { metadata: { name: 'x', annotations }, spec: { controller: 'a.b/c', parameters } }
  const row = tableRowOf('networking.k8s.io/v1', 'ingressclasses')(object, 0)
  expect(row).toEqual(['x (default)', 'a.b/c', 'K.g/p', '<unknown>'])
})
