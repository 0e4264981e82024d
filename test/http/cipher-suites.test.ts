// The cipher suites of TLS 1.2 that are offered by default.
import { once } from 'node:events'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiFixture, startApi } from './api-fixture.js'

let api: ApiFixture
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

async function cipherOf(ciphers: string): Promise<string> {
  const socket = connect({ port: api.port, host: '127.0.0.1', ca: api.ca, maxVersion: 'TLSv1.2', ciphers })
  try {
    await once(socket, 'secureConnect')
    return socket.getCipher().name
  } finally {
    socket.destroy()
  }
}

test.each(['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'])('%s is offered', async name => {
  expect(await cipherOf(name)).toBe(name)
})

test.each(['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384', 'ECDHE-ECDSA-AES128-SHA256'])(
  '%s, which uses CBC, is not offered',
  async name => {
    await expect(cipherOf(name)).rejects.toThrow('handshake failure')
  },
)
