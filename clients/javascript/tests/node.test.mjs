// node --test
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startBinnacle } from 'binnacle/testing'
import { definition, widget } from './widgets.mjs'

let prepared
before(async () => {
  prepared = await startBinnacle()
  await prepared.apply(definition)
})
after(() => prepared.stop())

test('a widget has at most size 10', async () => {
  const server = await prepared.fork()
  const [stored] = await server.apply(widget(10))
  assert.equal(stored.spec.size, 10)
  await assert.rejects(server.apply(widget(11)), /should be less than or equal to 10/)
  await server.stop()
})

test('another test begins without widgets, and with a conflict', async () => {
  const server = await prepared.fork()
  server.faults.inject({ resource: 'widgets', status: 409, times: 1 })
  await assert.rejects(server.apply(widget(1)), { code: 409 })
  await server.apply(widget(1))
  assert.deepEqual(
    server.requests.filter({ resource: 'widgets' }).map(({ status }) => status),
    [409, 201],
  )
  await server.stop()
})
