// What nothing in Node can beat: an HTTP/2 server that knows its answers before it is asked, or that puts what it is sent
// into a store without a look at it.
import { createSecureServer } from 'node:http2'
import { openLmdbStore } from '../dist/storage/lmdb/lmdb-store.js'

/** By path, or by the part of it before the name. */
const answers = new Map()
const watchers = new Set()
let store
let written = 0

process.on('message', message => {
  if (message.listen) listen(message.listen)
  if (message.answer) {
    answers.set(message.answer.path, Buffer.from(message.answer.body))
    process.send({ known: true })
  }
  if (message.emit) emit(message.emit)
  if (message.store) void openStore(message.store)
})

function listen({ cert, key }) {
  const server = createSecureServer({ cert, key, settings: { maxConcurrentStreams: 1000 } })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    if (headers[':method'] === 'POST') return keep(stream)
    const path = headers[':path']
    const body = answers.get(path) ?? answers.get(path.slice(0, path.lastIndexOf('/') + 1))
    if (body) {
      stream.respond({ ':status': 200, 'content-type': 'application/json', 'content-length': body.length })
      stream.end(body)
      return
    }
    stream.respond({ ':status': 200, 'content-type': 'application/json' })
    watchers.add(stream)
    stream.on('close', () => watchers.delete(stream))
  })
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
}

async function openStore({ folder }) {
  store = await openLmdbStore(folder)
  process.send({ opened: true })
}

/** Answers with what was sent, once it is on disk. */
function keep(stream) {
  const chunks = []
  stream.on('data', chunk => chunks.push(chunk))
  stream.on('end', async () => {
    const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
    await store.create(`/bench/object-${written++}`, body)
    stream.respond({ ':status': 201, 'content-type': 'application/json', 'content-length': body.length })
    stream.end(body)
  })
}

/** Tells every watcher of so many events, one after the other. */
function emit({ event, times }) {
  const bytes = Buffer.from(event)
  let left = times
  const one = () => {
    for (const stream of watchers) stream.write(bytes)
    if (--left > 0) setImmediate(one)
  }
  one()
}
