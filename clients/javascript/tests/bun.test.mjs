// bun test
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startBinnacle } from 'binnacle/testing'
import { definition, widget } from './widgets.mjs'

let prepared
beforeAll(async () => {
  prepared = await startBinnacle()
  await prepared.apply(definition)
})
afterAll(() => prepared.stop())

test('a widget has at most size 10', async () => {
  const server = await prepared.fork()
  const [stored] = await server.apply(widget(10))
  expect(stored.spec.size).toBe(10)
  await expect(server.apply(widget(11))).rejects.toThrow('should be less than or equal to 10')
  await server.stop()
})

test('another test begins without widgets, and with a conflict', async () => {
  const server = await prepared.fork()
  server.faults.inject({ resource: 'widgets', status: 409, times: 1 })
  await expect(server.apply(widget(1))).rejects.toMatchObject({ code: 409 })
  await server.apply(widget(1))
  expect(server.requests.filter({ resource: 'widgets' }).map(({ status }) => status)).toEqual([409, 201])
  await server.stop()
})
