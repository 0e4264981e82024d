// npx vitest run: after a test that fails, the requests and the changed objects are printed.
import { startBinnacle } from 'binnacle/testing'
import { expect, onTestFinished, test } from 'vitest'

test('the operator adds a label', async context => {
  const server = await startBinnacle({ protocol: 'http' })
  onTestFinished(() => server.stop())
  server.reportFailure(context)
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } }
  await server.apply(settings)
  expect((await server.get(settings)).metadata.labels).toEqual({ seen: 'yes' })
})
