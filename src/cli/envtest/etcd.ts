// The stand-in for etcd that envtest starts: it answers GET /health until it is stopped, and tells kube-apiserver.ts in
// which directory to store objects, so that they outlive a restart of the API server. It is an entry of its own and imports
// little, because envtest waits for its start.
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { stopWithParent } from '../serve/stop-with-starter.js'

const flags = new Map<string, string>()
const args = process.argv.slice(2)
for (const [index, arg] of args.entries()) {
  const [, name, value] = /^--?([^=]+)(?:=(.*))?$/s.exec(arg) ?? []
  if (name !== undefined) flags.set(name, value ?? args[index + 1] ?? '')
}
const dataDir = resolve(flags.get('data-dir') ?? 'default.etcd')
const url = new URL((flags.get('listen-client-urls') ?? 'http://localhost:2379').split(',')[0]!)

const ANSWERS: Readonly<Record<string, object>> = {
  '/health': { health: 'true', reason: '' },
  '/version': { etcdserver: '3.6.0', etcdcluster: '3.6.0' },
  '/binnacle': { dataDir },
}

const server = createServer((request, response) => {
  const answer = ANSWERS[request.url ?? '']
  response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(answer ?? { message: 'this is no etcd: it keeps objects of Binnacle only' })}\n`)
})
server.on('error', error => {
  console.error(`etcd: ${error.message}`)
  process.exit(1)
})
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(0))
server.listen(Number(url.port), url.hostname.replace(/^\[|\]$/g, ''))
stopWithParent()
