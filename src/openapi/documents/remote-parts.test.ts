import { expect, test } from 'vitest'
import type { Definition } from '../schemas/dialect.js'
import { remoteParts } from './remote-parts.js'

const definition = (value: object): Definition => ({ json: Buffer.from(JSON.stringify(value)), needs: [] })
const ref = (name: string) => ({ $ref: `#/definitions/${name}` })
const get = (name: string) => ({ get: { responses: { 200: { schema: ref(name) } } } })

const own = new Map([
  ['Same', definition({ type: 'object', description: 'Of this server.' })],
  ['Other', definition({ type: 'string' })],
])

function join(definitions: Record<string, object>, paths: Record<string, object>) {
  const { parts, find } = remoteParts(
    [{ etag: '', prefix: '/apis/a/v1/', spec: { paths, definitions } as never }],
    name => own.get(name),
  )
  return { paths: JSON.parse(`{${parts[0]!.paths.toString()}}`) as unknown, find, names: parts[0]!.names }
}

test('only paths of the group version are joined, with the definitions that they need', () => {
  const { paths, names } = join(
    { New: { properties: { a: ref('Inner') } }, Inner: { type: 'object' }, Unused: {} },
    { '/apis/a/v1/x': get('New'), '/apis/b/v1/x': get('Unused') },
  )
  expect(paths).toEqual({ '/apis/a/v1/x': get('New') })
  expect(names).toEqual(['New', 'Inner'])
})

test('a definition that differs by its texts only is the same', () => {
  const { names, find } = join(
    { Same: { type: 'object', description: 'Of another.' } },
    { '/apis/a/v1/x': get('Same') },
  )
  expect(names).toEqual(['Same'])
  expect(find('Same')).toBe(own.get('Same'))
})

test('a different definition with a name that is taken gets another one', () => {
  const { paths, find } = join(
    { Other: { type: 'integer' }, User: { properties: { other: ref('Other') } } },
    { '/apis/a/v1/x': get('User'), '/apis/a/v1/y': get('Other') },
  )
  expect(paths).toEqual({ '/apis/a/v1/x': get('User'), '/apis/a/v1/y': get('Other_v2') })
  expect(JSON.parse(find('User')!.json.toString())).toEqual({ properties: { other: ref('Other_v2') } })
  expect(find('User')!.needs).toEqual(['Other_v2'])
})
