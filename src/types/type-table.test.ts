import { expect, test } from 'vitest'
import type { Type } from './type.js'
import { builtinTypes } from './type-table.js'

const table = builtinTypes()

test('fields of inlined types stand among the others, and know where they come from', () => {
  const { fields } = table.byName('core/v1.Probe')
  expect([...fields.keys()].slice(0, 5)).toEqual(['exec', 'httpGet', 'tcpSocket', 'grpc', 'initialDelaySeconds'])
  expect(fields.get('httpGet')?.go).toMatchObject({
    inlinedFrom: ['ProbeHandler'],
    declaredBy: 'core/v1.ProbeHandler',
  })
})

test('lists and maps have elements', () => {
  const containers = table.byName('core/v1.PodSpec').fields.get('containers')!.type
  expect(containers).toMatchObject({ kind: 'list', merge: { list: 'map', keys: ['name'] } })
  expect(containers.element).toBe(table.byName('core/v1.Container'))
  const extra = table.byName('authentication/v1.UserInfo').fields.get('extra')!.type
  expect(extra).toMatchObject({ kind: 'map', element: { kind: 'list', element: { kind: 'string' } } })
})

test('a type is built once, and refers to itself', () => {
  const schema = table.byName('apiextensions/v1.JSONSchemaProps')
  expect(table.byName('apiextensions/v1.JSONSchemaProps')).toBe(schema)
  expect(schema.fields.get('not')!.type).toBe(schema)
  expect(table.ofKind('apps/v1', 'Deployment')).toBe(table.byName('apps/v1.Deployment'))
})

test('every type that a field names is there', () => {
  const innermost = (type: Type): Type => (type.element ? innermost(type.element) : type)
  for (const name of table.typeNames()) {
    for (const field of table.byName(name).fields.values()) expect(innermost(field.type).kind).not.toBe('any')
  }
})

test('kinds, resources and columns are found by their names', () => {
  expect(table.ofKind('apps/v1', 'Deployment')?.name).toBe('apps/v1.Deployment')
  expect(table.ofKind('apps/v1', 'Widget')).toBeUndefined()
  expect(table.resources('v1').find(resource => resource.name === 'pods')).toMatchObject({ shortNames: ['po'] })
  expect(table.resources('nothing/v1')).toEqual([])
  expect(table.columns('v1', 'configmaps')?.map(column => column.name)).toEqual(['Name', 'Data', 'Age'])
  expect(() => table.byName('no/v1.Such')).toThrow('there is no type no/v1.Such')
})
