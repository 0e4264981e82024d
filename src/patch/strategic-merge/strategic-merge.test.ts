import { describe, expect, test } from 'vitest'
import { type Value, type ValueObject, WholeFloat } from '../../meta/values/value.js'
import type { FieldSpec, Type } from '../../types/type.js'
import { builtinTypes, typeTable } from '../../types/type-table.js'
import { PatchError } from '../patch-error.js'
import {
  applyOwnPatch,
  applyStrategicMergePatch,
  MAX_MERGED_LEVELS,
  parseStrategicMergePatch,
} from './strategic-merge.js'

const types = builtinTypes()

const typeOf = (name: string, ...fields: FieldSpec[]): Type =>
  typeTable({ kinds: {}, resources: {}, columns: {}, types: { [name]: { fields } } }).byName(name)

const patched = (type: string, object: ValueObject, patch: ValueObject): ValueObject =>
  applyStrategicMergePatch(object, patch, types.byName(type))

function failure(action: () => unknown): [number, string] {
  try {
    action()
  } catch (error) {
    if (error instanceof PatchError) return [error.code, error.message]
    throw error
  }
  throw new Error('it did not fail')
}

type Case = [patch: ValueObject, expected: ValueObject | [code: number, message: string]]

/** Checks what patches change of one object, member by member: undefined where it is gone. */
function check(type: string, object: ValueObject, [patch, expected]: Case): void {
  if (Array.isArray(expected)) {
    expect(failure(() => patched(type, object, patch))).toEqual(expected)
  } else expect(patched(type, object, patch)).toEqual({ ...object, ...expected })
}

describe('maps', () => {
  const object = { metadata: { name: 'm', labels: { l: '1', m: '2' } }, data: { a: '1', b: '2' } }
  const labels = (value: ValueObject): ValueObject => ({ metadata: { name: 'm', labels: value } })

  // As recorded.
  test.each<Case>([
    [{ data: { a: 'x', c: '3' } }, { data: { a: 'x', b: '2', c: '3' } }],
    [{ data: { a: null } }, { data: { b: '2' } }],
    [{ data: { $patch: 'replace', c: '3' } }, { data: { c: '3' } }],
    [{ data: { $patch: 'delete' } }, { data: {} }],
    [{ data: { $patch: 'merge', c: '3' } }, [500, 'unknown patch type: merge in map: map[$patch:merge c:3]']],
    [{ data: { $patch: 'nonsense', c: '3' } }, [500, 'unknown patch type: nonsense in map: map[$patch:nonsense c:3]']],
    [{ data: { $patch: 5 } }, [500, 'unknown patch type: %!s(int64=5) in map: map[$patch:5]']],
    [{ metadata: { labels: { $patch: 'replace', n: '3' } } }, labels({ n: '3' })],
    [{ data: { $retainKeys: ['a'] } }, { data: { a: '1' } }],
    [{ data: { $retainKeys: ['a', 'c'], c: '3' } }, { data: { a: '1', c: '3' } }],
    [{}, {}],
    [{ data: [] }, { data: [] }],
    [{ data: 'text' }, { data: 'text' }],
    [{ data: { a: { b: 1 } } }, { data: { a: { b: 1 }, b: '2' } }],
    [{ unknown: 1 }, { unknown: 1 }],
  ])('%j', (...one) => check('core/v1.ConfigMap', object, one))

  test('$patch at the root', () => {
    expect(patched('core/v1.ConfigMap', object, { $patch: 'replace', data: { z: '1' } })).toEqual({ data: { z: '1' } })
    expect(patched('core/v1.ConfigMap', object, { $patch: 'delete' })).toEqual({})
  })

  // As recorded: messages quote the patch as it is left.
  test.each<[patch: ValueObject, left: ValueObject]>([
    [{ metadata: { annotations: { n: null, m: 'x' } } }, { metadata: { annotations: { m: 'x' } } }],
    [{ metadata: { labels: { l: null } } }, { metadata: { labels: { l: null } } }],
    [{ metadata: { labels: [{ x: null }] } }, { metadata: { labels: [{}] } }],
    [{ data: { a: { x: null, y: [{ z: null }, null] } } }, { data: { a: { y: [{}, null] } } }],
    [{ unknown: { $patch: 'replace', x: null } }, { unknown: { $patch: 'replace' } }],
  ])('nulls of %j that have nothing to remove are removed from the patch', (patch, left) => {
    applyOwnPatch(object, patch, types.byName('core/v1.ConfigMap'))
    expect(patch).toEqual(left)
  })

  test('null removes', () => {
    expect(patched('core/v1.ConfigMap', object, { data: null, nothing: null })).toEqual({ metadata: object.metadata })
  })

  test.each<Case>([
    [{ data: { $retainKeys: 'a' } }, [400, 'invalid patch format of retainKeys']],
    [{ data: { $retainKeys: ['a'], c: '3' } }, [400, 'invalid patch format of retainKeys']],
    [{ data: { $retainKeys: ['a'], b: null } }, { data: { a: '1' } }],
    [{ data: { $patch: null } }, [500, 'unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]']],
    [
      { data: { $patch: [new WholeFloat(1), true, 1e-7] } },
      [
        500,
        'unknown patch type: [%!s(float64=1) %!s(bool=true) %!s(float64=1e-07)] in map: map[$patch:[1 true 1e-07]]',
      ],
    ],
  ])('%j (not recorded)', (...one) => check('core/v1.ConfigMap', object, one))

  test('what is new comes without nulls and without objects that carry $patch', () => {
    const patch = {
      spec: { template: { a: null, b: [{ $patch: 'delete', name: 'x' }, { name: 'y', z: null }, null] } },
    }
    expect(patched('apps/v1.Deployment', {}, patch)).toEqual({ spec: { template: { b: [{ name: 'y' }, null] } } })
    expect(patched('core/v1.ConfigMap', {}, { data: { $patch: 'replace', a: '1' } })).toEqual({})
  })

  test('names that JavaScript objects have already are ordinary', () => {
    const patch = JSON.parse('{"data":{"__proto__":"x","constructor":"y"}}') as ValueObject
    const result = patched('core/v1.ConfigMap', object, patch)
    expect(JSON.stringify(result['data'])).toBe('{"a":"1","b":"2","__proto__":"x","constructor":"y"}')
  })
})

describe('lists that merge by a key', () => {
  const account = { secrets: [{ name: 'a' }, { name: 'b', namespace: 'n' }], imagePullSecrets: [{ name: 'p' }] }

  // As recorded; imagePullSecrets of a ServiceAccount do not merge, and so know no directives.
  test.each<Case>([
    [{ secrets: [{ name: 'c' }] }, { secrets: [{ name: 'c' }, { name: 'a' }, { name: 'b', namespace: 'n' }] }],
    [{ secrets: [{ name: 'b', namespace: 'm' }] }, { secrets: [{ name: 'a' }, { name: 'b', namespace: 'm' }] }],
    [{ secrets: [{ name: 'a', $patch: 'delete' }] }, { secrets: [{ name: 'b', namespace: 'n' }] }],
    [{ secrets: [{ $patch: 'replace' }, { name: 'z' }] }, { secrets: [{ name: 'z' }] }],
    [{ secrets: [{ $patch: 'replace' }] }, { secrets: [] }],
    [{ secrets: [] }, {}],
    [
      { imagePullSecrets: [{ $patch: 'replace' }, { name: 'only' }] },
      { imagePullSecrets: [{ $patch: 'replace' }, { name: 'only' }] },
    ],
  ])('%j', (...one) => check('core/v1.ServiceAccount', account, one))

  test.each<Case>([
    [
      { secrets: [{ name: 'c', namespace: 1 }, { name: 'a' }, { name: 'c', kind: 'K' }] },
      { secrets: [{ name: 'c', namespace: 1, kind: 'K' }, { name: 'a' }, { name: 'b', namespace: 'n' }] },
    ],
    [{ secrets: [{ $patch: 'delete' }] }, [500, 'map: map[$patch:delete] does not contain declared merge key: name']],
    [{ secrets: [{ $patch: 'merge' }] }, [500, 'merging lists cannot yet be specified in the patch']],
    [{ secrets: [{ $patch: 'x' }] }, [500, 'unknown patch type: x in map: map[$patch:x]']],
    [{ secrets: ['x'] }, [500, 'list element types are not identical: [[map[name:a] map[name:b namespace:n]] [x]]']],
    [
      { '$deleteFromPrimitiveList/imagePullSecrets': [{ name: 'p' }] },
      [500, 'cannot merge lists without merge key for struct'],
    ],
  ])('%j (not recorded)', (...one) => check('core/v1.ServiceAccount', account, one))

  test('a live list that starts with lists is refused as what does not apply', () => {
    const code = failure(() => patched('core/v1.ServiceAccount', { secrets: [[]] }, { secrets: [{ name: 'a' }] }))[0]
    expect(code).toBe(422)
  })

  const service = {
    spec: {
      ports: [
        { name: 'http', port: 80, targetPort: 8080 },
        { name: 'https', port: 443 },
      ],
    },
  }
  const ports = (...list: Value[]): ValueObject => ({ spec: { ports: list } })
  const [http, https] = service.spec.ports as Value[] as [ValueObject, ValueObject]

  // As recorded, but for what defaulting adds.
  test.each<Case>([
    [ports({ port: 80, targetPort: 9090 }), ports({ ...http, targetPort: 9090 }, https)],
    [ports({ port: 81, name: 'alt' }), ports({ port: 81, name: 'alt' }, http, https)],
    [ports({ port: 443, $patch: 'delete' }), ports(http)],
    [
      ports({ name: 'http', targetPort: 1 }),
      [500, 'map: map[name:http targetPort:1] does not contain declared merge key: port'],
    ],
    [
      { spec: { '$setElementOrder/ports': [{ port: 443 }, { port: 80 }], ports: [{ port: 443, targetPort: 4443 }] } },
      ports({ ...https, targetPort: 4443 }, http),
    ],
    [
      ports({ port: 80, targetPort: 1 }, { name: 'c', port: 9090 }),
      ports({ ...http, targetPort: 1 }, { name: 'c', port: 9090 }, https),
    ],
    [ports({ port: 443, $patch: 'delete' }, { port: 80, name: 'renamed' }), ports({ ...http, name: 'renamed' })],
    [
      { spec: { '$setElementOrder/ports': [], ports: [{ port: 80, name: 'x' }] } },
      ports({ ...http, name: 'x' }, https),
    ],
    [ports({ port: new WholeFloat(80) }), ports({ port: new WholeFloat(80) }, http, https)],
  ])('%j', (...one) => check('core/v1.Service', service, one))
})

describe('unions and lists without a key', () => {
  const template = (spec: ValueObject): ValueObject => ({ template: { spec } })
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } }
  const volumes = [{ name: 'v', emptyDir: {} }]
  const object = { spec: { strategy, ...template({ volumes, tolerations: [{ key: 'a' }] }) } }
  const spec = (changes: ValueObject): ValueObject => ({ spec: { ...object.spec, ...changes } })

  // As recorded.
  test.each<Case>([
    [{ spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }, spec({ strategy: { type: 'Recreate' } })],
    [{ spec: { strategy: { type: 'Recreate', rollingUpdate: null } } }, spec({ strategy: { type: 'Recreate' } })],
    [{ spec: { strategy: { $patch: 'replace', type: 'Recreate' } } }, spec({ strategy: { type: 'Recreate' } })],
    [
      { spec: { strategy: { $retainKeys: ['rollingUpdate'], type: 'Recreate' } } },
      [400, 'invalid patch format of retainKeys'],
    ],
    [
      { spec: template({ volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }] }) },
      spec(template({ volumes: [{ name: 'v', configMap: { name: 'c' } }], tolerations: [{ key: 'a' }] })),
    ],
    [{ spec: template({ tolerations: [{ key: 'b' }] }) }, spec(template({ volumes, tolerations: [{ key: 'b' }] }))],
    [{ spec: template({ tolerations: null }) }, spec(template({ volumes }))],
  ])('%j', (...one) => check('apps/v1.Deployment', object, one))
})

describe('lists of scalars that merge', () => {
  const object = { metadata: { finalizers: ['a', 'b'] } }
  const finalizers = (...list: Value[]): ValueObject => ({ metadata: { finalizers: list } })

  // As recorded.
  test.each<Case>([
    [finalizers('c'), finalizers('c', 'a', 'b')],
    [finalizers('a'), finalizers('a', 'b')],
    [{ metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } }, finalizers('b')],
    [{ metadata: { '$deleteFromPrimitiveList/finalizers': ['none'] } }, finalizers('a', 'b')],
    [{ metadata: { '$deleteFromPrimitiveList/finalizers': ['a'], finalizers: ['c'] } }, finalizers('c', 'b')],
    [{ metadata: { '$setElementOrder/finalizers': ['b', 'a'] } }, finalizers('b', 'a')],
    [{ metadata: { '$setElementOrder/finalizers': ['b', 'c', 'a'], finalizers: ['c'] } }, finalizers('b', 'c', 'a')],
    [{ metadata: { '$deleteFromPrimitiveList/finalizers': 'a' } }, finalizers('a', 'b')],
    [{ metadata: { $patch: 'replace' } }, { metadata: {} }],
  ])('%j', (...one) => check('core/v1.ConfigMap', object, one))

  test.each<Case>([
    [{ metadata: { '$deleteFromPrimitiveList/finalizers': null } }, { metadata: {} }],
    [{ metadata: { '$deleteFromPrimitiveList/': ['a'] } }, {}],
    [{ metadata: { '$deleteFromPrimitiveList/other': ['a'] } }, {}],
    [{ metadata: { $deleteFromPrimitiveList: ['a'] } }, [400, 'invalid patch format of primitive list']],
    [{ metadata: { $setElementOrder: ['a'] } }, [400, 'invalid patch format of setElementOrder list']],
    [{ metadata: { '$setElementOrder/finalizers': 'a' } }, [500, 'expected a []interface {}, but received a string']],
    [
      { metadata: { '$setElementOrder/finalizers': ['a'], finalizers: null } },
      [500, 'expected a []interface {}, but received a %!s(<nil>)'],
    ],
    [
      { metadata: { '$setElementOrder/finalizers': ['a'], finalizers: ['c'] } },
      [500, "The order in patch list:\n[c]\n doesn't match $setElementOrder list:\n[a]\n"],
    ],
    [{ metadata: { '$setElementOrder/labels': [] } }, [500, 'expected slice or array type, but got: struct']],
    [
      { metadata: { '$setElementOrder/other': [] } },
      [500, 'unable to find api field in struct ObjectMeta for the json field "other"'],
    ],
  ])('%j (not recorded)', (...one) => check('core/v1.ConfigMap', object, one))
})

describe('$setElementOrder', () => {
  const containers = (...names: string[]): Value[] => names.map(name => ({ name }))
  const podSpec = (spec: ValueObject): ValueObject => ({ spec: { template: { spec } } })
  const orderOf = (live: string[], order: string[], changes: Value[]): string => {
    const patch = podSpec({ '$setElementOrder/containers': containers(...order), containers: changes })
    const result = patched('apps/v1.Deployment', podSpec({ containers: containers(...live) }), patch)
    const list = (result as { spec: { template: { spec: { containers: { name: string }[] } } } }).spec.template.spec
    return list.containers.map(({ name }) => name).join('')
  }
  const gone = (name: string): Value => ({ $patch: 'delete', name })

  // Upper case: what only the server has.
  test.each<[string, string, Value[], string]>([
    ['abc', 'cba', [], 'cba'],
    ['aXb', 'ab', [], 'aXb'],
    ['aXb', 'ba', [], 'Xba'],
    ['Xab', 'nab', containers('n'), 'nXab'],
    ['abX', 'abn', containers('n'), 'abnX'],
    ['aXb', 'anb', containers('n'), 'anXb'],
    ['abX', 'b', [gone('a')], 'bX'],
    // A new container takes the place of the deleted one in the live order, and so comes behind X.
    ['abX', 'bn', [...containers('n'), gone('a')], 'bXn'],
    ['abX', '', containers('b'), 'abX'],
  ])('of %s by %s with %j is %s', (live, order, changes, expected) => {
    expect(orderOf(live.split(''), order.split(''), changes)).toBe(expected)
  })

  test('a mark at the end of the list is one item too many for the order', () => {
    const replace = { $patch: 'replace' }
    expect(orderOf(['a', 'b'], ['c'], [replace, ...containers('c')])).toBe('c')
    expect(failure(() => orderOf(['a', 'b'], ['c'], [...containers('c'), replace]))).toEqual([
      500,
      "The order in patch list:\n[map[name:c] map[$patch:replace]]\n doesn't match $setElementOrder list:\n[map[name:c]]\n",
    ])
  })

  test.each<[Value[], Value[], string]>([
    [['a'], [{ name: 'a' }], 'expected a map[string]interface {}, but received a string'],
    [[{}], [{ name: 'a' }], 'map: map[] does not contain declared merge key: name'],
    [['a'], [], 'value for key 0 is not a map.'],
  ])('by %j with %j fails', (order, changes, message) => {
    const patch = podSpec({ '$setElementOrder/containers': order, containers: changes })
    const live = podSpec({ containers: containers('a') })
    expect(failure(() => patched('apps/v1.Deployment', live, patch))).toEqual([500, message])
  })

  test('a list that is new is ordered too', () => {
    const patch = podSpec({ '$setElementOrder/containers': containers('a', 'b'), containers: containers('a', 'b') })
    expect(patched('apps/v1.Deployment', podSpec({}), patch)).toEqual(podSpec({ containers: containers('a', 'b') }))
  })
})

describe('types', () => {
  test('a type without fields of its own takes no deeper merges', () => {
    const revision = (data: ValueObject): ValueObject => ({ data })
    expect(patched('apps/v1.ControllerRevision', revision({ a: 1 }), revision({ b: 2 }))).toEqual(
      revision({ a: 1, b: 2 }),
    )
    expect(failure(() => patched('apps/v1.ControllerRevision', revision({ a: {} }), revision({ a: {} })))).toEqual([
      500,
      'unable to find api field in struct RawExtension for the json field "a"',
    ])
  })

  test('fields are found in any case, and those of inlined types too', () => {
    const volumes = (source: ValueObject): ValueObject => ({ volumes: [{ name: 'a', emptyDir: source }] })
    const merged = patched('core/v1.PodSpec', volumes({ medium: 'Memory' }), volumes({ sizeLimit: '1' }))
    expect(merged).toEqual(volumes({ medium: 'Memory', sizeLimit: '1' }))
    expect(patched('core/v1.ConfigMap', { DATA: { a: '1' } }, { DATA: { b: '2' } })).toEqual({
      DATA: { a: '1', b: '2' },
    })
  })

  test('a field that says replace is replaced', () => {
    const budget = typeOf('Budget', { name: 'selector', type: '{string}string', patchStrategy: 'replace' })
    const result = applyStrategicMergePatch({ selector: { a: '1' } }, { selector: { b: '2' } }, budget)
    expect(result).toEqual({ selector: { b: '2' } })
  })

  test('types may hold themselves; merges that go too deep are refused', () => {
    const tree = typeOf('Tree', { name: 'a', type: 'Tree' })
    const nested = (depth: number): ValueObject => (depth === 0 ? {} : { a: nested(depth - 1) })
    const merge = (depth: number): unknown => applyStrategicMergePatch(nested(depth), nested(depth), tree)
    expect(merge(MAX_MERGED_LEVELS)).toEqual(nested(MAX_MERGED_LEVELS))
    expect(failure(() => merge(MAX_MERGED_LEVELS + 1))[0]).toBe(400)
  })
})

describe('reading', () => {
  test.each<[Value, string]>([
    [[], 'array'],
    [5, 'number'],
    ['text', 'string'],
  ])('refuses %j', (body, type) => {
    expect(failure(() => parseStrategicMergePatch(body))).toEqual([
      400,
      `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
    ])
  })

  test('null changes nothing', () => {
    expect(parseStrategicMergePatch(null)).toEqual({})
  })
})

test('directives where there is nothing to merge are removed from the patch, too', () => {
  const patch: ValueObject = {
    spec: { template: { metadata: { $patch: 'delete' }, list: [{ $patch: 'delete' }, { a: 1 }] } },
  }
  const result = applyOwnPatch({ spec: {} }, patch, types.byName('autoscaling/v1.Scale'))
  expect(result).toEqual({ spec: { template: { list: [{ a: 1 }] } } })
  expect(patch).toEqual(result)
})
