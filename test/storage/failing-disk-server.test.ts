// A server whose disk fails for a while: writes are refused and never answered 500, health tells, and all goes on afterwards.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BinnacleProcess, startBinnacleProcess } from '../components/binnacle.js'
import { straceMissing } from '../components/strace.js'
import { type Response, sendRequest } from '../server/request.js'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const token = 'admin-token'

describe.skipIf(straceMissing())('a server', () => {
  let server: BinnacleProcess
  beforeAll(async () => {
    server = await startBinnacleProcess()
  })
  afterAll(() => server?.kill())

  const create = (name: string): Promise<Response> =>
    sendRequest(server, CONFIG_MAPS, { method: 'POST', token, body: { metadata: { name } } })
  const statusOf = async (path: string): Promise<number> => (await sendRequest(server, path, { token })).status

  /** Lets every sync of the server fail, until what is returned is called. */
  async function failSyncs(): Promise<() => Promise<void>> {
    const flags = ['-f', '-p', `${server.pid}`, '-o', '/dev/null', '-e', 'trace=fdatasync,fsync']
    const faults = ['fdatasync', 'fsync'].flatMap(call => ['-e', `inject=${call}:error=EIO`])
    const strace = spawn('strace', [...flags, ...faults], { stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = once(strace, 'exit')
    let output = ''
    strace.stderr.setEncoding('utf8').on('data', text => (output += text))
    await expect.poll(() => output, { timeout: 20_000 }).toContain('attached')
    return async () => {
      strace.kill('SIGINT')
      await ended
    }
  }

  test('refuses writes while its disk fails, says so, and goes on when it works', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    expect((await create('before')).status).toBe(201)
    const heal = await failSyncs()
    const failed: Response[] = []
    try {
      for (const name of names) failed.push(await create(name))
      expect(failed.filter(({ status, headers }) => ![503, 504].includes(status) || !headers['retry-after'])).toEqual(
        [],
      )
      expect((await sendRequest(server, '/readyz', { token })).text).toContain('[-]etcd failed')
      expect(await Promise.all(['/readyz', '/healthz', '/livez'].map(statusOf))).toEqual([500, 500, 200])
    } finally {
      await heal()
    }
    await expect.poll(() => statusOf('/readyz'), { timeout: 20_000 }).toBe(200)
    expect(await statusOf('/healthz')).toBe(200)
    expect((await create('after')).status).toBe(201)
    const { body: list } = await sendRequest(server, CONFIG_MAPS, { token })
    const found = list.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
    expect(found).toEqual(expect.arrayContaining(['after', 'before']))
    // What was refused for certain is not there.
    const refused = names.filter((_, i) => failed[i]!.status === 503)
    expect(refused.filter(name => found.includes(name))).toEqual([])
  })
})
