// The warnings of kube-controller-manager v1.36.4 about the types of expressions, as it wrote them into the status of these
// policies (type-checking.json). The names of types end in a number there, which is masked.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Binnacle, startBinnacle } from '../../src/server/index.js'
import { sendRequest } from '../server/request.js'

interface Recorded {
  readonly definitions: readonly { readonly metadata: { readonly name: string } }[]
  readonly policies: readonly {
    readonly name: string
    readonly spec: object
    readonly warnings: Readonly<Record<string, string>>
  }[]
}

interface Policy {
  readonly metadata: { readonly managedFields: readonly { readonly manager: string; readonly fieldsV1: object }[] }
  readonly status: {
    readonly observedGeneration?: number
    readonly typeChecking?: {
      readonly expressionWarnings?: readonly { readonly fieldRef: string; readonly warning: string }[]
    }
  }
}

const { definitions, policies } = JSON.parse(
  readFileSync(new URL('type-checking.json', import.meta.url), 'utf8'),
) as Recorded

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
const HEAD = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingAdmissionPolicy' }

let server: Binnacle
const send = (method: string, path: string, body?: unknown) =>
  sendRequest(server, path, { method, token: server.token, ...(body !== undefined && { body }) })

beforeAll(async () => {
  server = await startBinnacle({ storage: 'memory', controllers: ['validatingadmissionpolicy-status-controller'] })
  for (const definition of definitions) {
    await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
  }
  await Promise.all(policies.map(({ name, spec }) => send('POST', POLICIES, { ...HEAD, metadata: { name }, spec })))
})

afterAll(() => server.stop())

const checked = async (name: string, generation = 1): Promise<Policy> => {
  const get = async () => (await send('GET', `${POLICIES}/${name}`)).body as unknown as Policy
  await expect.poll(async () => (await get()).status.observedGeneration).toBe(generation)
  return get()
}

test.each(policies)('the policy $name', async ({ name, warnings }) => {
  const { status } = await checked(name)
  const found = (status.typeChecking?.expressionWarnings ?? []).map(({ fieldRef, warning }) => [
    fieldRef,
    warning.replaceAll(/\b([A-Z][A-Za-z]*)\d+(?=[.,)'])/g, '$1<number>'),
  ])
  expect(Object.fromEntries(found)).toEqual(warnings)
})

test('a changed policy is checked again, and the fields of its status have a manager', async () => {
  const rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }
  const matchConstraints = { resourceRules: [rule] }
  const validations = [{ expression: 'has(object.spec.replicas)' }]
  await send('POST', POLICIES, { ...HEAD, metadata: { name: 'changed' }, spec: policies[0]!.spec })
  await checked('changed')
  const path = `${POLICIES}/changed?fieldManager=m&force=true`
  await sendRequest(server, path, {
    method: 'PATCH',
    token: server.token,
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: { ...HEAD, metadata: { name: 'changed' }, spec: { matchConstraints, validations } },
  })
  const { status, metadata } = await checked('changed', 2)
  expect(status).toEqual({ observedGeneration: 2 })
  expect(metadata.managedFields.find(({ manager }) => manager === 'validatingadmissionpolicy-status')).toMatchObject({
    operation: 'Apply',
    subresource: 'status',
    fieldsV1: { 'f:status': { 'f:observedGeneration': {}, 'f:typeChecking': {} } },
  })
})
