// `binnacle up`, `status` and `down`: a server in the background, in the user's kubeconfig.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runBinnacle } from '../components/binnacle.js'

let directory: string
let dataDir: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'binnacle-background-'))
  dataDir = `--data-dir=${join(directory, 'data')}`
  vi.stubEnv('KUBECONFIG', join(directory, 'kubeconfig'))
})
afterEach(async () => {
  await runBinnacle('down', dataDir)
  vi.unstubAllEnvs()
  rmSync(directory, { recursive: true, force: true })
})

const kubeconfig = (): string => readFileSync(join(directory, 'kubeconfig'), 'utf8')

test('a server in the background is started once, found, and stopped', { timeout: 60_000 }, async () => {
  expect(await runBinnacle('status', dataDir)).toMatchObject({ code: 1, stdout: expect.stringContaining('No server') })
  const { code, stdout } = await runBinnacle('up', dataDir, '--secure-port=0', '--storage=memory')
  expect(code).toBe(0)
  const [, url, pid] = /ready at (\S+) \(process (\d+)\)/.exec(stdout)!
  expect(kubeconfig()).toContain(`server: ${url}`)
  expect((await runBinnacle('up', dataDir)).stdout).toBe(`Binnacle is already running at ${url} (process ${pid}).\n`)
  expect((await runBinnacle('status', dataDir)).stdout).toMatch(new RegExp(`^Ready at ${url}, .*process ${pid}\\.\\n$`))
  expect((await runBinnacle('down', dataDir)).stdout).toBe(`Binnacle at ${url} is stopped.\n`)
  expect(kubeconfig()).not.toContain('binnacle')
  expect(await runBinnacle('status', dataDir)).toMatchObject({ code: 1, stdout: expect.stringContaining('Not ready') })
})

test('with --open, the browser is called with a link that signs in', async () => {
  const opened = join(directory, 'opened')
  for (const opener of ['xdg-open', 'open']) {
    writeFileSync(join(directory, opener), `#!/bin/sh\necho "$1" > ${opened}\n`, { mode: 0o755 })
  }
  vi.stubEnv('PATH', `${directory}:${process.env['PATH']}`)
  const { stdout } = await runBinnacle('up', dataDir, '--secure-port=0', '--storage=memory', '--open')
  const [, url] = /ready at (\S+) /.exec(stdout)!
  const link = () => (existsSync(opened) ? readFileSync(opened, 'utf8') : '')
  await expect.poll(link, { timeout: 10_000 }).toMatch(new RegExp(`^${url}/console/#code=\\S{20,}\n$`))
})

test('a server that cannot start is reported in its own words', async () => {
  const { code, stderr } = await runBinnacle('up', dataDir, '--secure-port=0', '--tls-cert-file=/missing')
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^binnacle: .*tls/) })
})

test('another process with the same id is not stopped', async () => {
  await runBinnacle('up', dataDir, '--secure-port=0', '--storage=memory')
  const file = join(directory, 'data', 'background.json')
  const record = JSON.parse(readFileSync(file, 'utf8')) as object
  writeFileSync(file, JSON.stringify({ ...record, pid: process.pid }))
  expect((await runBinnacle('down', dataDir)).stdout).toContain('No server is running in the background')
  // The end of the test stops the real one.
  writeFileSync(file, JSON.stringify(record))
})
