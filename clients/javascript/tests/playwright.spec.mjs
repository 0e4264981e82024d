// npx playwright test
import { test as base, expect } from '@playwright/test'
import { startBinnacle } from 'binnacle/testing'
import { definition, widget } from './widgets.mjs'

/** One prepared server for each worker, and a copy of it for each test. */
const test = base.extend({
  prepared: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of the parameters
    async ({}, use) => {
      const server = await startBinnacle({ protocol: 'http' })
      await server.apply(definition)
      await use(server)
      await server.stop()
    },
    { scope: 'worker' },
  ],
  server: async ({ prepared }, use) => {
    const server = await prepared.fork()
    await use(server)
    await server.stop()
  },
})

test('a widget is listed', async ({ server, request }) => {
  await server.apply(widget(10))
  const headers = { authorization: `Bearer ${server.token}` }
  const response = await request.get(`${server.url}/apis/example.com/v1/widgets`, { headers })
  expect((await response.json()).items).toHaveLength(1)
})

test('another test begins without widgets', async ({ server, request }) => {
  const headers = { authorization: `Bearer ${server.token}` }
  const response = await request.get(`${server.url}/apis/example.com/v1/widgets`, { headers })
  expect((await response.json()).items).toHaveLength(0)
})
