// node --test: after a test that fails, the requests and the changed objects are printed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBinnacle } from 'binnacle/testing'

test('the operator adds a label', async t => {
  const server = await startBinnacle({ protocol: 'http' })
  t.after(() => server.stop())
  server.reportFailure(t)
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } }
  await server.apply(settings)
  assert.deepEqual((await server.get(settings)).metadata.labels, { seen: 'yes' })
})
