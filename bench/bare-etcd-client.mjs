// The least that puts a key into etcd: one HTTP/2 connection, one protobuf message in, one out.
import { connect } from 'node:http2'
import protobuf from 'protobufjs'

const root = protobuf.Root.fromJSON({
  nested: {
    PutRequest: { fields: { key: { type: 'bytes', id: 1 }, value: { type: 'bytes', id: 2 } } },
    Header: { fields: { revision: { type: 'int64', id: 3 } } },
    PutResponse: { fields: { header: { type: 'Header', id: 1 } } },
  },
})
const PutRequest = root.lookupType('PutRequest')
const PutResponse = root.lookupType('PutResponse')

export function startBareEtcdClient(url) {
  const session = connect(url)
  session.on('error', () => {})
  return {
    put(key, value) {
      const message = PutRequest.encode({ key: Buffer.from(key), value }).finish()
      const frame = Buffer.allocUnsafe(5 + message.length)
      frame[0] = 0
      frame.writeUInt32BE(message.length, 1)
      frame.set(message, 5)
      return new Promise((resolve, reject) => {
        const stream = session.request({
          ':method': 'POST',
          ':path': '/etcdserverpb.KV/Put',
          'content-type': 'application/grpc',
          te: 'trailers',
        })
        const chunks = []
        stream.on('data', chunk => chunks.push(chunk))
        stream.on('trailers', trailers => {
          if (trailers['grpc-status'] !== '0') reject(new Error(trailers['grpc-message']))
        })
        stream.on('end', () => resolve(PutResponse.decode(Buffer.concat(chunks).subarray(5)).header.revision))
        stream.on('error', reject)
        stream.end(frame)
      })
    },
    close: () => session.close(),
  }
}
