import { expect, test } from 'vitest'
import { builtinTypes, parseTypeRef, type TypeRef } from './type-table.js'

const table = builtinTypes()

test('fields of inlined types stand among the others, and know where they come from', () => {
  const probe = table.type('core/v1.Probe')
  expect(probe.fields.map(field => field.name).slice(0, 5)).toEqual([
    'exec',
    'httpGet',
    'tcpSocket',
    'grpc',
    'initialDelaySeconds',
  ])
  expect(probe.byName.get('httpGet')).toMatchObject({ within: ['ProbeHandler'], declaredBy: 'core/v1.ProbeHandler' })
})

test('spellings of types are read', () => {
  expect(parseTypeRef('[]core/v1.Container')).toEqual({ is: 'list', of: { is: 'type', name: 'core/v1.Container' } })
  expect(parseTypeRef('{string}[]string')).toEqual({ is: 'map', of: { is: 'list', of: { is: 'string' } } })
})

test('every type that a field names is there', () => {
  const named = table.typeNames().flatMap(name => table.type(name).fields.map(field => innermost(field.type)))
  const missing = named.filter(type => type.is === 'type' && !table.typeNames().includes(type.name))
  expect(missing).toEqual([])
})

const innermost = (type: TypeRef): TypeRef => (type.is === 'list' || type.is === 'map' ? innermost(type.of) : type)

test('kinds, resources and columns are found by their names', () => {
  expect(table.typeOfKind('apps/v1', 'Deployment')).toBe('apps/v1.Deployment')
  expect(table.typeOfKind('apps/v1', 'Widget')).toBeUndefined()
  expect(table.resources('v1').find(resource => resource.name === 'pods')).toMatchObject({ shortNames: ['po'] })
  expect(table.resources('nothing/v1')).toEqual([])
  expect(table.columns('v1', 'configmaps')?.map(column => column.name)).toEqual(['Name', 'Data', 'Age'])
  expect(() => table.type('no/v1.Such')).toThrow('there is no type no/v1.Such')
})
