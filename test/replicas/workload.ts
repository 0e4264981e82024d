// Clients that write to any replica while replicas and etcd fail, and what they were told.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { begin } from '../server/request.js'
import { type ReplicaSet, TOKEN } from './replica-set.js'

const NAMESPACE = '/api/v1/namespaces/default'
const CONFIGMAPS = `${NAMESPACE}/configmaps`
const REQUEST_MS = 15_000

export interface Workload {
  /** The names of objects whose creation was acknowledged. */
  readonly created: Set<string>
  /** How often the counter was raised, and how often that is not known. */
  readonly counter: { raised: number; unknown: number }
  /** Answers of 500. */
  readonly wrong: string[]
  /** Samples in which more than one replica led. */
  readonly doubleLeaders: string[]
  /** The names of objects that a client with a watch has seen, which begins again at another replica when it ends. */
  readonly watched: Set<string>
  /** Resolves when this many more writes were acknowledged. */
  acknowledged(count: number): Promise<void>
  /** Ends the writes, and later the watch and the samples. */
  stopWriting(): Promise<void>
  stop(): Promise<void>
}

export function startWorkload(set: ReplicaSet): Workload {
  const created = new Set<string>()
  const watched = new Set<string>()
  const counter = { raised: 0, unknown: 0 }
  const wrong: string[] = []
  const doubleLeaders: string[] = []
  const progress = { writes: 0, isWriting: true, isOver: false }

  /** Undefined if there was no answer, or one that leaves open whether the write was done. */
  async function send(index: number, path: string, method: string, body: unknown) {
    const answer = set.send(index, path, { method, body }).catch(() => undefined)
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
          if (!isService) created.add(name)
          progress.writes++
          break
        }
        await sleep(20)
      }
    }
  }

  async function raise(client: number): Promise<void> {
    for (let i = client; progress.isWriting; i++) {
      const read = await set.send(i % 3, `${CONFIGMAPS}/counter`).catch(() => undefined)
      if (read?.status !== 200) {
        await sleep(20)
        continue
      }
      const raised = { ...read.body, data: { value: String(Number(read.body.data.value) + 1) } }
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
          if (type !== 'BOOKMARK') watched.add(object.metadata.name)
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

  const writing = [create(0), create(1), create(2), raise(0), raise(1)]
  const watching = [watch(), sampleLeaders()]
  return {
    created,
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
