// A server that starts on a full disk: it serves, says which file it could not write, and the disk can be emptied through it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runBinnacle, startBinnacleProcess } from '../components/binnacle.js'
import { sendRequest } from '../server/request.js'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const admin = { token: 'admin-token' }

const directory = mkdtempSync(join(tmpdir(), 'binnacle-full-disk-'))
const disk = join(directory, 'disk')
mkdirSync(disk)
/** A file system of its own needs the rights of an administrator. */
const canMount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', disk]).status === 0

beforeAll(() => {
  if (!canMount) console.warn('not tested: a start on a full disk, because no file system can be mounted here')
})
afterAll(() => {
  if (canMount) spawnSync('umount', ['--lazy', disk])
  rmSync(directory, { recursive: true, force: true })
})

test.skipIf(!canMount)('a server starts on a full disk, which can be emptied through it', async () => {
  const flag = `--data-dir=${join(disk, 'data')}`
  const first = await startBinnacleProcess(flag)
  const data = { text: 'x'.repeat(20_000) }
  for (let i = 0; i < 20; i++) {
    const body = { metadata: { name: `a${i}` }, data }
    expect((await sendRequest(first, CONFIG_MAPS, { ...admin, method: 'POST', body })).status).toBe(201)
  }
  await first.stop()
  expect(() => writeFileSync(join(disk, 'filling'), Buffer.alloc(32 * 2 ** 20))).toThrow('ENOSPC')

  const second = await startBinnacleProcess(flag)
  expect(second.output.stderr).toContain(`no space left to write ${join(disk, 'data', 'kubeconfig')}`)
  expect((await sendRequest(second, CONFIG_MAPS, admin)).body.items).toHaveLength(20)
  const backup = join(disk, 'backup.mdb')
  const saved = await runBinnacle('snapshot', 'save', backup, flag)
  expect(saved).toMatchObject({
    code: 1,
    stderr: `binnacle: nothing was saved to ${backup}: No space left on device\n`,
  })
  expect(readdirSync(disk).toSorted()).toEqual(['data', 'filling'])
  for (let i = 0; i < 20; i++) {
    expect((await sendRequest(second, `${CONFIG_MAPS}/a${i}`, { ...admin, method: 'DELETE' })).status).toBe(200)
  }
  expect((await sendRequest(second, CONFIG_MAPS, admin)).body.items).toEqual([])
  await second.stop()
})

test.skipIf(!canMount)('a start on a full disk has what only the journal has', async () => {
  rmSync(join(disk, 'data'), { recursive: true, force: true })
  rmSync(join(disk, 'filling'), { force: true })
  // The journal is used on a disk with much space. Another program fills the disk after the server was killed.
  const before = `--data-dir=${join(directory, 'before')}`
  const first = await startBinnacleProcess(before)
  const data = { text: 'x'.repeat(20_000) }
  const names = Array.from({ length: 20 }, (_, i) => `a${i}`)
  for (const name of names)
    await sendRequest(first, CONFIG_MAPS, { ...admin, method: 'POST', body: { metadata: { name }, data } })
  await first.kill()
  expect(statSync(join(directory, 'before', 'store', 'journal')).size).toBeGreaterThan(20_000)
  expect(spawnSync('cp', ['-a', '--sparse=always', join(directory, 'before'), join(disk, 'data')]).status).toBe(0)
  expect(() => writeFileSync(join(disk, 'filling'), Buffer.alloc(32 * 2 ** 20))).toThrow('ENOSPC')

  const second = await startBinnacleProcess(`--data-dir=${join(disk, 'data')}`)
  expect((await sendRequest(second, CONFIG_MAPS, admin)).body.items).toHaveLength(names.length)
  // The server had no reserve on that disk yet, so that even deletes wait for space.
  const body = { metadata: { name: 'b' }, data }
  expect((await sendRequest(second, CONFIG_MAPS, { ...admin, method: 'POST', body })).status).toBe(503)
  expect((await sendRequest(second, `${CONFIG_MAPS}/a0`, { ...admin, method: 'DELETE' })).status).toBe(503)
  rmSync(join(disk, 'filling'))
  expect((await sendRequest(second, `${CONFIG_MAPS}/a0`, { ...admin, method: 'DELETE' })).status).toBe(200)
  await second.kill()
  const third = await startBinnacleProcess(`--data-dir=${join(disk, 'data')}`)
  expect((await sendRequest(third, CONFIG_MAPS, admin)).body.items).toHaveLength(names.length - 1)
  await third.stop()
})
