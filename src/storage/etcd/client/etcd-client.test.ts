import { expect, test } from 'vitest'
import { createEtcdClient } from './etcd-client.js'

test.each(['http://127.0.0.1:1', 'https://etcd:2379', 'unix:///run/etcd.sock'])('%s is an endpoint', async url => {
  const client = createEtcdClient({ endpoints: [url] })
  expect(client.isClosed).toBe(false)
  await client.close()
})

test.each(['127.0.0.1:2379', 'ftp://etcd', ''])('%j is none', url => {
  expect(() => createEtcdClient({ endpoints: [url] })).toThrow('is not an endpoint of etcd')
})
