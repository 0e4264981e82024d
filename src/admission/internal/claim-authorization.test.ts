import { expect, test } from 'vitest'
import { createAuthorizer } from '../../auth/authz/authorizer.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { attributesFor, refusalOf } from '../attributes.suite.js'
import { claimAuthorization } from './claim-authorization.js'

const CLAIMS = 'resourceclaims.resource.k8s.io'
const objectOf = (kind: string, rest: ValueObject): ApiObject => ({
  apiVersion: 'resource.k8s.io/v1',
  kind,
  metadata: { name: 'a' },
  ...rest,
})
const devices = { requests: [{ name: 'r', exactly: { deviceClassName: 'c', adminAccess: true } }] }

/** Namespace `admins` has the label. `allowed`: the subresources that the user may write. */
const plugin = (...allowed: string[]) =>
  claimAuthorization(
    {
      find: async (_, __, name) => ({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels: { 'resource.kubernetes.io/admin-access': String(name === 'admins') } },
      }),
      all: async () => [],
    },
    () =>
      createAuthorizer((_, attributes) => ({
        allowed: !('path' in attributes) && allowed.includes(attributes.subresource),
        reason: '',
      })),
  )

test.each([
  ['resourceclaims', objectOf('ResourceClaim', { spec: { devices } })],
  ['resourceclaimtemplates', objectOf('ResourceClaimTemplate', { spec: { spec: { devices } } })],
])('administrative access by %s needs a labelled namespace', async (resource, object) => {
  const refusal = (namespace: string): Promise<string> =>
    refusalOf(plugin(), attributesFor(`${resource}.resource.k8s.io`, { object, namespace }))
  expect(await refusal('admins')).toBe('')
  expect(await refusal('x')).toContain(
    'spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires',
  )
})

test('parts of the status need rights of their own', async () => {
  const claim = (status: ValueObject): ApiObject => objectOf('ResourceClaim', { status })
  const refusal = (status: ValueObject, ...allowed: string[]): Promise<string> =>
    refusalOf(plugin(...allowed), attributesFor(`${CLAIMS}/status`, { object: claim(status), oldObject: claim({}) }))
  const allocation = { devices: { results: [] } }
  expect(await refusal({})).toBe('')
  expect(await refusal({ allocation })).toContain('requires resource="resourceclaims/binding"')
  expect(await refusal({ allocation }, 'binding')).toBe('')
  const report = { allocation, devices: [{ driver: 'd', pool: 'p', device: 'x' }] }
  expect(await refusal(report, 'binding')).toContain(
    'changing status.devices requires resource="resourceclaims/driver"',
  )
  expect(await refusal(report, 'binding', 'driver')).toBe('')
})
