// A client with random operations on a few keys: it writes with the revisions that it has seen, which other clients
// replace all the time, and sometimes deliberately with old revisions.
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Revision, Store } from '../../../src/storage/store.js'
import type { Operation, Requested } from './history.js'
import type { Random } from './random.js'
import type { Recorder } from './recorder.js'

export interface ClientOptions {
  readonly name: string
  readonly store: () => Store
  readonly keys: readonly string[]
  /** The prefixes that it lists. */
  readonly prefixes: readonly string[]
  readonly recorder: Recorder
  readonly random: Random
  readonly stopped: () => boolean
}

export async function runClient({
  name,
  store,
  keys,
  prefixes,
  recorder,
  random,
  stopped,
}: ClientOptions): Promise<void> {
  /** The revisions of each key that the client has seen, newest last; 0 for a missing key. */
  const seenRevisions = new Map<string, Revision[]>()
  let written = 0

  function remember(key: string, revision: Revision): void {
    const revisions = seenRevisions.get(key) ?? []
    if (revisions.at(-1) !== revision) revisions.push(revision)
    seenRevisions.set(key, revisions.slice(-5))
  }

  function newValue(): string {
    written++
    // A few are larger than a database page, most are small.
    const padding = random.chance(0.02) ? 5000 : random.chance(0.2) ? 200 : 0
    return `${name}.${written}${'.'.repeat(padding)}`
  }

  function something(): Requested {
    const key = random.oneOf(keys)
    const prefix = random.oneOf(prefixes)
    const revisions = seenRevisions.get(key)
    if (!revisions || random.chance(0.2)) return { what: 'get', key, at: 'latest' }
    if (random.chance(0.02)) return { what: 'revision' }
    if (random.chance(0.08)) return { what: 'range', prefix, at: 'latest' }
    if (random.chance(0.05)) return { what: 'range', prefix, at: 'latest', limit: 1 + random.number(2) }
    if (random.chance(0.05)) return { what: 'get', key, at: { notOlderThan: revisions.at(-1)! } }
    if (random.chance(0.03)) return { what: 'range', prefix, at: { notOlderThan: revisions.at(-1)! } }
    if (random.chance(0.03)) return { what: 'range', prefix, at: 'any' }
    const expected = random.chance(0.1) ? random.oneOf(revisions) : revisions.at(-1)!
    if (expected === 0) return { what: 'create', key, value: newValue() }
    if (random.chance(0.05)) return { what: 'get', key, at: { exactly: expected } }
    if (random.chance(0.05)) return { what: 'create', key, value: newValue() }
    return random.chance(0.25)
      ? { what: 'delete', key, expected }
      : { what: 'update', key, value: newValue(), expected }
  }

  function learn({ requested, outcome }: Operation): void {
    switch (outcome.is) {
      case 'entry':
        if (requested.what === 'get' && requested.at === 'latest') remember(requested.key, outcome.entry?.revision ?? 0)
        break
      case 'refused':
        if ('key' in requested) remember(requested.key, outcome.current?.revision ?? 0)
        break
      case 'done':
        if ('key' in requested) remember(requested.key, requested.what === 'delete' ? 0 : outcome.revision)
    }
  }

  /** Performs a random operation; after the first page of a list it reads the rest of the list. */
  async function act(): Promise<boolean> {
    const operation = await recorder.carryOut(name, store(), something())
    learn(operation)
    const { requested, outcome } = operation
    if (requested.what === 'range' && outcome.is === 'page' && outcome.remaining > 0) {
      const rest = { at: { exactly: outcome.revision }, startAfter: outcome.entries.at(-1)!.key }
      await recorder.carryOut(name, store(), { what: 'range', prefix: requested.prefix, ...rest })
    }
    return outcome.is !== 'failed' && outcome.is !== 'unknown'
  }

  while (!stopped()) {
    const went = await Promise.all(Array.from({ length: 1 + random.number(3) }, act))
    if (went.includes(false))
      await delay(1 + random.number(20)) // pause like a well-behaved client
    else if (random.chance(0.5)) await nextTurn()
  }
}
