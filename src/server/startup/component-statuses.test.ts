import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { builtinKinds } from '../../builtin/builtin-kinds.js'
import { builtinTypes } from '../../types/type-table.js'
import { probe, statusesOf } from './component-statuses.js'

const statuses = statusesOf({
  a: async () => ({ status: 'True', message: 'ok' }),
  b: async () => ({ status: 'False', error: 'no answer' }),
})

test('one object for each component', async () => {
  expect(await statuses.list()).toEqual([await statuses.get('a'), await statuses.get('b')])
  expect(await statuses.get('a')).toEqual({
    apiVersion: 'v1',
    kind: 'ComponentStatus',
    metadata: { name: 'a' },
    conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }],
  })
  expect(await statuses.get('toString')).toBeUndefined()
})

test('rows say whether it is healthy', async () => {
  const { tableRow, deprecationWarning } = builtinKinds(builtinTypes()).find(
    ({ names }) => names.kind === 'ComponentStatus',
  )!.versions[0]!
  expect((await statuses.list()).map(object => tableRow(object, 0))).toEqual([
    ['a', 'Healthy', 'ok', ''],
    ['b', 'Unhealthy', '', 'no answer'],
  ])
  expect(deprecationWarning).toBe('v1 ComponentStatus is deprecated in v1.19+')
})

test('a component that does not listen', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  expect(await probe(port)).toEqual({
    status: 'False',
    message: `Get "https://127.0.0.1:${port}/healthz": dial tcp 127.0.0.1:${port}: connect: connection refused`,
  })
})
