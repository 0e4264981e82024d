// Clients that write to any replica while replicas and etcd fail, and what they were told.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { begin } from '../server/request.js'
import { type ReplicaSet, TOKEN } from './replica-set.js'

const NAMESPACE = '/api/v1/namespaces/default'
const CONFIGMAPS = `${NAMESPACE}/configmaps`
const REQUEST_MS = 15_000
const BUSY = 'busy'

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await sleep(20)
}

export interface Workload {
  /** The names of objects whose creation was acknowledged, and that nobody deletes. */
  readonly created: Set<string>
  /** Those whose deletion was acknowledged. */
  readonly deleted: Set<string>
  /** The keys of one object that patches have set, which were acknowledged. */
  readonly patched: Set<string>
  /** How often the counter was raised, and how often that is not known. */
  readonly counter: { raised: number; unknown: number }
  /** Answers of 500, and reads that do not have what was acknowledged before. */
  readonly wrong: string[]
  /** Samples in which more than one replica led. */
  readonly doubleLeaders: string[]
  /** The names of the objects that there are, to a client with a watch, which begins again at another replica when it ends. */
  readonly watched: ReadonlySet<string>
  /** Resolves when this many more writes were acknowledged. */
  acknowledged(count: number): Promise<void>
  /** Ends the writes, and later the watch and the samples. */
  stopWriting(): Promise<void>
  stop(): Promise<void>
}

export function startWorkload(set: ReplicaSet): Workload {
  const created = new Set<string>()
  const deleted = new Set<string>()
  const patched = new Set<string>()
  const watched = new Set<string>()
  const counter = { raised: 0, unknown: 0 }
  const wrong: string[] = []
  const doubleLeaders: string[] = []
  const progress = { writes: 0, isWriting: true, isOver: false }

  /** Undefined if there was no answer, or one that leaves open whether the write was done. */
  async function send(index: number, path: string, method: string, body?: unknown) {
    const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
    const answer = set.send(index, path, { method, body, headers }).catch(() => undefined)
    const response = await Promise.race([answer, sleep(REQUEST_MS, undefined, { ref: false })])
    if (response?.status === 500) wrong.push(`${method} ${path}: ${response.text}`)
    return response
  }

  async function create(client: number): Promise<void> {
    for (let i = 0; progress.isWriting; i++) {
      const name = `w${client}-${i}`
      const isService = i % 5 === 4
      const object = isService
        ? { metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }] } }
        : { metadata: { name }, data: { client: String(client) } }
      const path = isService ? `${NAMESPACE}/services` : CONFIGMAPS
      // One client tries each replica in turn, as one with all addresses does.
      for (let attempt = 0; ; attempt++) {
        const response = await send((client + i + attempt) % 3, path, 'POST', object)
        // A repeated create of an unknown outcome finds its own object.
        if (response?.status === 201 || (response?.status === 409 && attempt > 0)) {
          progress.writes++
          if (isService) break
          created.add(name)
          await expectRead(client + i + attempt + 1, `${CONFIGMAPS}/${name}`, 200)
          break
        }
        await sleep(20)
      }
    }
  }

  /** Any replica has what any other has acknowledged. */
  async function expectRead(index: number, path: string, status: 200 | 404): Promise<void> {
    const response = await send(index % 3, path, 'GET')
    if (response && response.status < 429 && response.status !== status)
      wrong.push(`GET ${path} at ${index % 3}: ${response.status} instead of ${status}`)
  }

  /** Services and ConfigMaps come and go, in a namespace that changes meanwhile. */
  async function comeAndGo(): Promise<void> {
    await until(async () => {
      const response = await send(0, '/api/v1/namespaces', 'POST', { metadata: { name: BUSY } })
      return response?.status === 201 || response?.status === 409
    })
    for (let i = 0; progress.isWriting; i++) {
      const [resource, object] =
        i % 2 === 0 ? ['configmaps', {}] : ['services', { spec: { type: 'NodePort', ports: [{ port: 80 }] } }]
      const path = `/api/v1/namespaces/${BUSY}/${resource}`
      const name = `d${i}`
      const label = { metadata: { labels: { turn: String(i) } } }
      const [made] = await Promise.all([
        send(i % 3, path, 'POST', { metadata: { name }, ...object }),
        send((i + 1) % 3, `/api/v1/namespaces/${BUSY}`, 'PATCH', label),
      ])
      if (made?.status !== 201) continue
      const gone = await send((i + 2) % 3, `${path}/${name}`, 'DELETE')
      if (gone?.status !== 200) continue
      deleted.add(`${resource}/${name}`)
      await expectRead(i + 1, `${path}/${name}`, 404)
    }
  }

  /** Patches are written without a read before, by what a replica knows of the object. */
  async function patch(client: number): Promise<void> {
    for (let i = client; progress.isWriting; i++) {
      const key = `p${client}-${i}`
      const response = await send(i % 3, `${CONFIGMAPS}/counter`, 'PATCH', { data: { [key]: 'x' } })
      if (response?.status === 200) patched.add(key)
      await sleep(20)
    }
  }

  async function raise(client: number): Promise<void> {
    for (let i = client; progress.isWriting; i++) {
      const read = await set.send(i % 3, `${CONFIGMAPS}/counter`).catch(() => undefined)
      if (read?.status !== 200) {
        await sleep(20)
        continue
      }
      const raised = { ...read.body, data: { ...read.body.data, value: String(Number(read.body.data.value) + 1) } }
      const written = await send((i + 1) % 3, `${CONFIGMAPS}/counter`, 'PUT', raised)
      if (written?.status === 200) counter.raised++
      else if (written === undefined || written.status >= 500) counter.unknown++
    }
  }

  /** Lists, then watches, and begins again at the next replica from the last version that it has seen. */
  async function watch(): Promise<void> {
    let version: string | undefined
    for (let index = 0; !progress.isOver; index = (index + 1) % 3) {
      try {
        if (version === undefined) {
          const { status, body } = await set.send(index, CONFIGMAPS)
          if (status !== 200) throw new Error('no list')
          watched.clear()
          for (const { metadata } of body.items) watched.add(metadata.name)
          version = body.metadata.resourceVersion as string
        }
        version = await follow(index, version)
      } catch {
        await sleep(50)
      }
    }
  }

  async function follow(index: number, from: string): Promise<string | undefined> {
    let version: string | undefined = from
    const query = `watch=1&resourceVersion=${from}&allowWatchBookmarks=true&timeoutSeconds=3`
    const outgoing = begin({ url: set.replicas[index]!.url, ca: set.ca }, `${CONFIGMAPS}?${query}`, { token: TOKEN })
    outgoing.setTimeout(5000, () => outgoing.destroy())
    outgoing.end()
    try {
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
      if (response.statusCode !== 200) outgoing.destroy()
      let rest = ''
      for await (const chunk of response.setEncoding('utf8')) {
        const lines = `${rest}${chunk}`.split('\n')
        rest = lines.pop()!
        for (const line of lines) {
          const { type, object } = JSON.parse(line)
          if (type === 'ERROR') return object.code === 410 ? undefined : version
          version = object.metadata.resourceVersion
          if (type === 'DELETED') watched.delete(object.metadata.name)
          else if (type !== 'BOOKMARK') watched.add(object.metadata.name)
        }
        if (progress.isOver) outgoing.destroy()
      }
    } catch {
      // The replica was killed, paused or cut off.
    }
    return version
  }

  async function sampleLeaders(): Promise<void> {
    while (!progress.isOver) {
      const leading = await leaders(set)
      if (leading.length > 1) doubleLeaders.push(leading.join(' and '))
      await sleep(100)
    }
  }

  const writing = [create(0), create(1), create(2), raise(0), raise(1), patch(0), patch(1), comeAndGo()]
  const watching = [watch(), sampleLeaders()]
  return {
    created,
    deleted,
    patched,
    counter,
    wrong,
    doubleLeaders,
    watched,
    async acknowledged(count) {
      const wanted = progress.writes + count
      while (progress.writes < wanted) await sleep(10)
    },
    async stopWriting() {
      progress.isWriting = false
      await Promise.all(writing)
    },
    async stop() {
      progress.isOver = true
      await Promise.all(watching)
    },
  }
}

/** The replicas that lead by their own metrics. Those that do not answer at once are paused or gone. */
export async function leaders(set: ReplicaSet): Promise<number[]> {
  const pages = await Promise.all(
    set.replicas.map((_, index) =>
      Promise.race([set.send(index, '/metrics').catch(() => undefined), sleep(500, undefined, { ref: false })]),
    ),
  )
  return pages.flatMap((page, index) =>
    page?.text.includes('leader_election_master_status{name="binnacle-controllers"} 1') ? [index] : [],
  )
}
