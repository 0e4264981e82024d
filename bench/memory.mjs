// What the server takes of memory under each version of Node for the same work: idle, and after 20,000 creates, 30 lists
// of them all, and 20,000 reads. Takes executables of Node; without any, those that `npm run test:nodes` has installed.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ended, here, mostResidentBytes, residentBytes, startLoad, startOurs } from './processes.mjs'

const OBJECTS = 20_000
const COLLECTION = '/api/v1/namespaces/default/configmaps'

export async function run(args) {
  const executables = args.length > 0 ? args : [process.execPath, ...installedNodes()]
  console.log('| Node | idle | then | at most |\n|---|---|---|---|')
  for (const executable of executables) {
    const version = execFileSync(executable, ['--version'], { encoding: 'utf8' }).trim()
    const figures = (await measure(executable)).map(bytes => `${Math.round(bytes / 1e6)} MB`)
    console.log(`| ${version} | ${figures.join(' | ')} |`)
  }
}

function installedNodes() {
  const folder = here('../node_modules/.cache/nodes')
  if (!existsSync(folder)) return []
  return readdirSync(folder).map(major =>
    join(folder, major, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node'),
  )
}

async function measure(executable) {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-bench-memory-'))
  const children = []
  try {
    const server = await startOurs(folder, children, ['--storage=memory'], executable)
    await sleep(2_000) // what a start leaves to be done later
    const idle = residentBytes(server.pid)
    const load = startLoad(children)
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c-{}' }, data: { text: 'x'.repeat(900) } }
    const many = { count: OBJECTS, connections: 4, streams: 16 }
    await load('repeat', server, { ...many, method: 'POST', path: COLLECTION, body: JSON.stringify(object) })
    await load('repeat', server, { path: COLLECTION, count: 30, connections: 2, streams: 1 })
    await load('repeat', server, { ...many, path: `${COLLECTION}/c-{}`, below: OBJECTS })
    const figures = [idle, residentBytes(server.pid), mostResidentBytes(server.pid)]
    await ended(server.child)
    return figures
  } finally {
    for (const child of children) child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}
