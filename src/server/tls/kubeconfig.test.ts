import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decodeYaml } from '../../codec/yaml/decode.js'
import { mergeKubeconfig, removeFromKubeconfig, writeKubeconfig } from './kubeconfig.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'binnacle-kubeconfig-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const access = { server: 'https://127.0.0.1:6443', ca: 'CA', client: { cert: 'CERT', key: 'KEY' } }
const read = (path: string) => decodeYaml(readFileSync(path)).value

test('a kubeconfig contains the server, its authority and the credentials', async () => {
  const path = join(folder, 'new', 'config')
  await writeKubeconfig(path, access)
  expect(read(path)).toMatchObject({
    kind: 'Config',
    'current-context': 'binnacle',
    clusters: [{ name: 'binnacle', cluster: { server: access.server, 'certificate-authority-data': 'Q0E=' } }],
    users: [{ name: 'binnacle', user: { 'client-certificate-data': 'Q0VSVA==', 'client-key-data': 'S0VZ' } }],
  })
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a kubeconfig has a context for each of several servers', async () => {
  const path = join(folder, 'config')
  await writeKubeconfig(path, { ...access, tlsServerName: 'api' }, [{ name: 'a:1', server: 'https://a:1' }])
  const cluster = { 'certificate-authority-data': 'Q0E=', 'tls-server-name': 'api' }
  expect(read(path)).toMatchObject({
    'current-context': 'binnacle',
    clusters: [
      { name: 'binnacle', cluster: { ...cluster, server: access.server } },
      { name: 'a:1', cluster: { ...cluster, server: 'https://a:1' } },
    ],
    contexts: [
      { name: 'binnacle', context: { cluster: 'binnacle', user: 'binnacle' } },
      { name: 'a:1', context: { cluster: 'a:1', user: 'binnacle' } },
    ],
    users: [{ name: 'binnacle' }],
  })
})

test('merging keeps other entries, and replaces an older entry of this server', async () => {
  const path = join(folder, 'config')
  writeFileSync(
    path,
    'apiVersion: v1\nkind: Config\ncurrent-context: work\nclusters:\n- name: work\n  cluster: {server: https://work}\n- name: binnacle\n  cluster: {server: https://old}\nusers:\n- name: me\n  user: {token: t}\npreferences: {colors: true}\n',
  )
  await mergeKubeconfig(path, access)
  expect(read(path)).toMatchObject({
    'current-context': 'binnacle',
    clusters: [{ name: 'work' }, { name: 'binnacle', cluster: { server: access.server } }],
    users: [{ name: 'me' }, { name: 'binnacle' }],
    preferences: { colors: true },
  })
})

test('removing takes out what merging has added, unless it is another server by now', async () => {
  const path = join(folder, 'config')
  const others = { clusters: [{ name: 'work' }], contexts: [{ name: 'work' }], users: [{ name: 'me' }] }
  writeFileSync(path, JSON.stringify(others))
  await mergeKubeconfig(path, access)
  const merged = read(path)
  await removeFromKubeconfig(path, 'https://127.0.0.1:1')
  expect(read(path)).toEqual(merged)
  await removeFromKubeconfig(path, access.server)
  expect(read(path)).toEqual({ apiVersion: 'v1', kind: 'Config', ...others })
})

test('merging into a symbolic link changes its target', async () => {
  const [file, link] = [join(folder, 'file'), join(folder, 'link')]
  writeFileSync(file, 'preferences: {colors: true}\n')
  symlinkSync(file, link)
  await mergeKubeconfig(link, access)
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  expect(read(file)).toMatchObject({ 'current-context': 'binnacle', preferences: { colors: true } })
})

test('a link in the place of the file is replaced, and its target stays as it is', async () => {
  const [victim, link] = [join(folder, 'victim'), join(folder, 'planted')]
  writeFileSync(victim, 'of another')
  symlinkSync(victim, link)
  await writeKubeconfig(link, access)
  expect(readFileSync(victim, 'utf8')).toBe('of another')
  expect(lstatSync(link).isSymbolicLink()).toBe(false)
  expect(lstatSync(link).mode & 0o777).toBe(0o600)
})

test('a link with the name of a temporary file is not followed, and no temporary file is left', async () => {
  const [path, victim] = [join(folder, 'config'), join(folder, 'victim')]
  writeFileSync(victim, 'untouched')
  symlinkSync(victim, `${path}.new`)
  await writeKubeconfig(path, access)
  expect(readFileSync(victim, 'utf8')).toBe('untouched')
  expect(lstatSync(path).isSymbolicLink()).toBe(false)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder).toSorted()).toEqual(['config', 'config.new', 'victim'])
})

test.each(['a: [', 'just text', '- a\n- b\n'])('a file that holds %j is left as it is', async text => {
  const path = join(folder, 'config')
  writeFileSync(path, text)
  await expect(mergeKubeconfig(path, access)).rejects.toThrow(`${path} is left as it is`)
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test.each(['', '# nothing yet\n'])('a file that holds %j is as good as none', async text => {
  const path = join(folder, 'config')
  writeFileSync(path, text)
  await mergeKubeconfig(path, access)
  expect(read(path)).toMatchObject({ 'current-context': 'binnacle' })
})
