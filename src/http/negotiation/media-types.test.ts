import { expect, test } from 'vitest'
import { parseAccept, parseContentType } from './media-types.js'

const names = (header: string): string[] => parseAccept(header).map(({ type, subtype }) => `${type}/${subtype}`)

test.each([
  ['application/json', ['application/json']],
  ['text/html, application/yaml', ['text/html', 'application/yaml']],
  [',application/yaml', ['application/yaml']],
  ['application/yaml , application/json', ['application/yaml', 'application/json']],
  ['*', ['*/*']],
  ['application', []],
  ['/', []],
  ['application/json/x', []],
  ['bad accept', []],
])('the types in %j', (header, types) => {
  expect(names(header)).toEqual(types)
})

test.each([
  ['application/json;q=0.5,application/yaml;q=0.9', 'application/yaml'],
  ['application/json;q=0.5,application/yaml', 'application/yaml'],
  ['application/yaml;q=0.5,*/*;q=0.9', '*/*'],
  ['*/*;q=0.9,application/yaml;q=0.5', 'application/yaml'],
  ['*/*;q=0.1,application/cbor', 'application/cbor'],
  ['application/yaml;q=0,application/json', 'application/json'],
  ['application/yaml;q=nonsense,application/json;q=0.1', 'application/json'],
  ['application/json;q=1,application/yaml;q=2', 'application/yaml'],
])('of %j the first choice is %s', (header, first) => {
  expect(names(header)[0]).toBe(first)
})

test('a long header is read in a time that grows with its length', () => {
  expect(names(`a/b;q=${'0'.repeat(1_000_000)}x,c/d`)[0]).toBe('c/d')
  const rising = Array.from({ length: 60_000 }, (_, i) => `a/b${i};q=${i}`).join(',')
  expect(names(rising)[0]).toBe('a/b999')
})

test('parameters are parsed, and those that are not well formed are ignored', () => {
  const [type] = parseAccept('application/json; as=Table ;g=meta.k8s.io;=;x;v=v1;a=b=c')
  expect(Object.fromEntries(type!.parameters)).toEqual({ as: 'Table', g: 'meta.k8s.io', v: 'v1' })
})

test.each([
  ['application/json', 'application/json'],
  ['APPLICATION/JSON', 'application/json'],
  ['application/json; charset=utf-8', 'application/json'],
  ['application/json;charset="a;b"', 'application/json'],
  ['application/json;', 'application/json'],
  ['application/json;nonsense', undefined],
  ['application/json;a=1;A=2', undefined],
  ['application/json, application/yaml', undefined],
  ['application', 'application'],
  ['not a type', undefined],
  [';', undefined],
])('the content type %j is %s', (header, type) => {
  expect(parseContentType(header)).toBe(type)
})
