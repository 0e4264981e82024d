// `binnacle crd conversion-webhook`, called over https as kube-apiserver does.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { makeCertificate } from '../../src/server/tls/x509.js'
import { sendRequest } from '../server/request.js'

const version = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
})

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'widgets.example.com',
    annotations: { 'binnacle.dev/conversion': '[{from: v1, to: v2, steps: [{move: spec.size, to: spec.height}]}]' },
  },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [version('v1', true), version('v2', false)],
  },
}

test('a review is answered with the converted objects', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-conversion-webhook-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const validity = { from: new Date(Date.now() - 60_000), to: new Date(Date.now() + 3_600_000) }
  const { cert, key } = await makeCertificate({
    subject: { name: 'webhook' },
    validity,
    use: 'server',
    hosts: ['127.0.0.1'],
  })
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  const flags = [
    file('crd.json', JSON.stringify(definition)),
    '--port=0',
    '--bind-address=127.0.0.1',
    `--tls-cert-file=${file('cert.pem', cert)}`,
    `--tls-private-key-file=${file('key.pem', key)}`,
  ]
  const executable = fileURLToPath(new URL('../../bin/binnacle', import.meta.url))
  const child = spawn(process.execPath, [executable, 'crd', 'conversion-webhook', ...flags])
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  const [ready] = (await once(child.stdout, 'data')) as [Buffer]
  const url = /ready at (\S+?),/.exec(ready.toString())![1]!

  const { status, body } = await sendRequest({ url, ca: cert }, '/convert', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: {
        uid: 'review-1',
        desiredAPIVersion: 'example.com/v2',
        objects: [{ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { size: 3 } }],
      },
    },
  })
  expect(status).toBe(200)
  expect(body.response).toMatchObject({
    uid: 'review-1',
    result: { status: 'Success' },
    convertedObjects: [{ apiVersion: 'example.com/v2', kind: 'Widget', spec: { height: 3 } }],
  })
})
