import { describe, expect, test } from 'vitest'
import { ALWAYS_ALLOW } from '../../auth/authorizer.js'
import { createMetrics } from '../../base/metrics.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { ValueObject } from '../../meta/values/value.js'
import { attributesFor, mutated, refusalOf } from '../attributes.suite.js'
import { createAdmission } from '../chain.js'
import { mutatingAdmissionPolicy } from './mutating.js'

const rule = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], scope: '*' }
const matchConstraints = { namespaceSelector: {}, objectSelector: {}, resourceRules: [rule] }

const named = (kind: string, name: string, spec: ValueObject): ApiObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name, resourceVersion: '1' },
  spec,
})

const apply = (expression: string): ValueObject => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
})
const jsonPatch = (expression: string): ValueObject => ({ patchType: 'JSONPatch', jsonPatch: { expression } })

/** A plugin with one policy for each list of mutations. */
function pluginWith(...policies: readonly (readonly ValueObject[])[]) {
  const specs = policies.map((mutations, i) =>
    named('MutatingAdmissionPolicy', `p${i}`, {
      matchConstraints,
      mutations: [...mutations],
      reinvocationPolicy: 'IfNeeded',
    }),
  )
  const bindings = specs.map((_, i) => named('MutatingAdmissionPolicyBinding', 'b', { policyName: `p${i}` }))
  return mutatingAdmissionPolicy({
    metrics: createMetrics(),
    mutatingPolicies: { generation: 1, policies: () => specs, bindings: () => bindings, isComplete: true },
    authorizer: () => ALWAYS_ALLOW,
    findKind: () => undefined,
    findNamespace: () => ({ labels: {} }),
    objects: { find: async () => undefined, all: async () => [] },
  })
}

const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { size: '3' } }
const attributes = () => attributesFor('configmaps', { object: configMap })
const dataAfter = async (...mutations: ValueObject[]) => (await mutated(pluginWith(mutations), attributes()))!.data

describe('a mutation', () => {
  test('merges an Object into the object', async () => {
    expect(await dataAfter(apply('Object{data: {"name": object.metadata.name}}'))).toEqual({ size: '3', name: 'a' })
  })

  test('applies a JSON Patch', async () => {
    const patch = jsonPatch('[JSONPatch{op: "add", path: "/data/" + jsonpatch.escapeKey("a/~b"), value: "x"}]')
    expect(await dataAfter(patch)).toEqual({ size: '3', 'a/~b': 'x' })
  })

  test('sees what the mutation before has changed', async () => {
    const first = jsonPatch('[JSONPatch{op: "replace", path: "/data/size", value: "4"}]')
    const second = apply('Object{data: {"twice": string(int(object.data.size) * 2)}}')
    expect(await dataAfter(first, second)).toEqual({ size: '4', twice: '8' })
  })

  test.each([
    [
      apply('Object{nothing: 1}'),
      'failed to convert patch object to typed object: .nothing: field not declared in schema',
    ],
    [
      apply('Object{metadata: Object.spec{}}'),
      'type mismatch: unexpected type name "Object.spec", expected "Object.metadata", which matches field name path from root Object type',
    ],
    [
      apply('Object{metadata: Object.metadata{managedFields: []}}'),
      'may not mutate atomic arrays, maps or structs: .metadata.managedFields',
    ],
    [apply('Object{data: {"x": object.data.none}}'), 'no such key: none'],
    [
      apply(`Object{data: [{"a": "x"}]${'.map(v, {"a": v, "b": v})'.repeat(40)}[0]}`),
      'operation cancelled: actual cost limit exceeded',
    ],
    [
      jsonPatch(`[JSONPatch{op: "add", path: "/data", value: [{"a": "x"}]${'.map(v, {"a": v, "b": v})'.repeat(40)}}]`),
      'operation cancelled: actual cost limit exceeded',
    ],
    [
      jsonPatch(
        `[JSONPatch{op: "add", path: "/data/a", value: ["${'x'.repeat(9000)}"]${'.map(v, {"a": v, "b": v})'.repeat(10)}[0]}]`,
      ),
      'admission has made an object of more than 8388608 characters',
    ],
  ])('%j fails', async (mutation, expected) => {
    expect(await refusalOf(pluginWith([mutation]), attributes())).toContain(expected)
  })
})

test('a policy runs again if another one has changed the object after it', async () => {
  const first = jsonPatch('[JSONPatch{op: "add", path: "/data/seen", value: has(object.data.other) ? "both" : "one"}]')
  const second = jsonPatch('[JSONPatch{op: "add", path: "/data/other", value: "yes"}]')
  const object = await createAdmission([pluginWith([first], [second])]).mutate(attributes())
  expect(object!.data).toEqual({ size: '3', seen: 'both', other: 'yes' })
})
