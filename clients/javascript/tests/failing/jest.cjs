// npx jest: the error of a test that fails has the requests and the changed objects.
const { startBinnacle } = require('binnacle/testing')

test('the operator adds a label', async () => {
  const server = await startBinnacle({ protocol: 'http' })
  try {
    await server.recorded(async () => {
      const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } }
      await server.apply(settings)
      expect((await server.get(settings)).metadata.labels).toEqual({ seen: 'yes' })
    })
  } finally {
    await server.stop()
  }
})
