// Encryption at rest on the embedded store: what is on disk, restarts, and the change of a key.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { BinnacleProcess } from '../components/binnacle.js'
import { dataDirectoryForEachTest } from '../components/data-directory.js'
import { sendRequest } from '../server/request.js'

const token = 'admin-token'
const SECRETS = '/api/v1/namespaces/default/secrets'
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

const NO_KEY = 'Internal error occurred: no matching key was found for the provided Secretbox transformer'

const directory = dataDirectoryForEachTest('encryption')

const keyOf = (name: string): string => Buffer.alloc(32, name).toString('base64')

/** Starts a server that writes with the first of these keys. */
function startWith(...keys: string[]): Promise<BinnacleProcess> {
  const path = join(directory.path, 'encryption.json')
  const providers = [{ secretbox: { keys: keys.map(name => ({ name, secret: keyOf(name) })) } }]
  const resources = [{ resources: ['secrets'], providers }]
  const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration' }
  writeFileSync(path, JSON.stringify({ ...kind, resources }))
  return directory.start(
    `--encryption-provider-config=${path}`,
    '--feature-gates=AllowUnsafeMalformedObjectDeletion=false',
  )
}

async function send(server: BinnacleProcess, method: string, path: string, body?: unknown) {
  const answer = await sendRequest(server, path, { method, token, body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer.body
}

const object = (kind: string, name: string, data: object) => ({ apiVersion: 'v1', kind, metadata: { name }, data })
const secret = (name: string, text: string) => object('Secret', name, { text: base64(text) })
const base64 = (text: string): string => Buffer.from(text).toString('base64')

const textOf = async (server: BinnacleProcess, name: string): Promise<string> =>
  Buffer.from((await send(server, 'GET', `${SECRETS}/${name}`)).data.text, 'base64').toString()

/** How often a text occurs in the files of the data directory. */
function onDisk(text: string): number {
  const files = readdirSync(directory.path, { recursive: true, withFileTypes: true }).filter(file => file.isFile())
  const counts = files.map(file => readFileSync(join(file.parentPath, file.name), 'latin1').split(text).length - 1)
  return counts.reduce((sum, count) => sum + count, 0)
}

test('the text of a Secret is nowhere on disk, and a restarted server reads it', async () => {
  const first = await startWith('key1')
  await send(first, 'POST', CONFIG_MAPS, object('ConfigMap', 'seen', { text: 'in-the-clear' }))
  await send(first, 'POST', SECRETS, secret('hidden', 'not-for-the-disk'))
  await send(first, 'PUT', `${SECRETS}/hidden`, secret('hidden', 'neither-for-the-disk'))
  await first.stop()
  expect(onDisk('in-the-clear')).toBeGreaterThan(0)
  expect(onDisk('k8s:enc:secretbox:v1:key1:')).toBeGreaterThan(0)
  for (const text of ['not-for-the-disk', 'neither-for-the-disk']) {
    expect([onDisk(text), onDisk(base64(text))]).toEqual([0, 0])
  }

  const second = await startWith('key1')
  expect(await textOf(second, 'hidden')).toBe('neither-for-the-disk')
  const { items } = await send(second, 'GET', SECRETS)
  expect(items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(['hidden'])
})

test('after a change of the key, objects are under the new one when they have been written again', async () => {
  const before = await startWith('key1')
  for (const name of ['kept', 'rewritten']) await send(before, 'POST', SECRETS, secret(name, name))
  await before.kill()

  const during = await startWith('key2', 'key1')
  const { metadata } = await send(during, 'GET', `${SECRETS}/rewritten`)
  // Nothing else changes, which is written none the less since the key has changed.
  const written = await send(during, 'PUT', `${SECRETS}/rewritten`, await send(during, 'GET', `${SECRETS}/rewritten`))
  expect(written.metadata.resourceVersion).not.toBe(metadata.resourceVersion)
  await during.stop()

  const after = await startWith('key2')
  expect(await textOf(after, 'rewritten')).toBe('rewritten')
  const refused = await sendRequest(after, `${SECRETS}/kept`, { token })
  expect(refused).toMatchObject({ status: 500, body: { message: NO_KEY } })
  await send(after, 'PUT', `${SECRETS}/rewritten`, secret('rewritten', 'again'))
  expect(await textOf(after, 'rewritten')).toBe('again')
})
