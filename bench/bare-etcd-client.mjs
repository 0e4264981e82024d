// The least that puts a key into etcd: one HTTP/2 connection, one protobuf message in, one out.
import { connect } from 'node:http2'
import protobuf from 'protobufjs'

const root = protobuf.Root.fromJSON({
  nested: {
    PutRequest: { fields: { key: { type: 'bytes', id: 1 }, value: { type: 'bytes', id: 2 } } },
    Header: { fields: { revision: { type: 'int64', id: 3 } } },
    PutResponse: { fields: { header: { type: 'Header', id: 1 } } },
    RangeRequest: { fields: { key: { type: 'bytes', id: 1 } } },
    Compare: {
      fields: {
        target: { type: 'int32', id: 2 },
        key: { type: 'bytes', id: 3 },
        modRevision: { type: 'int64', id: 6 },
      },
    },
    RequestOp: { fields: { range: { type: 'RangeRequest', id: 1 }, put: { type: 'PutRequest', id: 2 } } },
    TxnRequest: {
      fields: {
        compare: { rule: 'repeated', type: 'Compare', id: 1 },
        success: { rule: 'repeated', type: 'RequestOp', id: 2 },
        failure: { rule: 'repeated', type: 'RequestOp', id: 3 },
      },
    },
    TxnResponse: { fields: { header: { type: 'Header', id: 1 }, succeeded: { type: 'bool', id: 2 } } },
  },
})
const PutRequest = root.lookupType('PutRequest')
const PutResponse = root.lookupType('PutResponse')
const TxnRequest = root.lookupType('TxnRequest')
const TxnResponse = root.lookupType('TxnResponse')
const MOD_REVISION = 2

export function startBareEtcdClient(url) {
  const session = connect(url)
  session.on('error', () => {})

  function call(path, request, Response) {
    const frame = Buffer.allocUnsafe(5 + request.length)
    frame[0] = 0
    frame.writeUInt32BE(request.length, 1)
    frame.set(request, 5)
    return new Promise((resolve, reject) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
      })
      const chunks = []
      stream.on('data', chunk => chunks.push(chunk))
      stream.on('trailers', trailers => {
        if (trailers['grpc-status'] !== '0') reject(new Error(trailers['grpc-message']))
      })
      stream.on('end', () => resolve(Response.decode(Buffer.concat(chunks).subarray(5))))
      stream.on('error', reject)
      stream.end(frame)
    })
  }

  return {
    put: (key, value) =>
      call('/etcdserverpb.KV/Put', PutRequest.encode({ key: Buffer.from(key), value }).finish(), PutResponse),
    /** What a store must do: a put that succeeds only if the key is unchanged, and otherwise returns the entry. */
    create(name, value) {
      const key = Buffer.from(name)
      const request = TxnRequest.encode({
        compare: [{ target: MOD_REVISION, key, modRevision: 0 }],
        success: [{ put: { key, value } }],
        failure: [{ range: { key } }],
      }).finish()
      return call('/etcdserverpb.KV/Txn', request, TxnResponse)
    },
    close: () => session.close(),
  }
}
