import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openConnection } from './connection.js'

test('connects to a socket of the file system', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'etcd-socket-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'etcd.sock')
  const server = createServer((request, response) => response.end(request.url))
  await new Promise<void>(resolve => server.listen(path, resolve))
  onTestFinished(() => void server.close())

  const connection = await openConnection(`unix://${path}`, { connectTimeoutMs: 5_000 })
  onTestFinished(() => connection.destroy())
  const chunks: Buffer[] = []
  await new Promise<void>((resolve, reject) => {
    const fields = [':method', 'GET', ':scheme', 'http', ':path', '/x', ':authority', connection.authority]
    const stream = connection.open(fields, {
      headers: () => {},
      data(bytes, isEnd) {
        chunks.push(bytes)
        if (isEnd) resolve()
      },
      broken: reject,
    })
    stream!.write(Buffer.alloc(0), true)
  })
  expect(Buffer.concat(chunks).toString()).toBe('/x')
})
