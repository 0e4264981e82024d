// Fills a store on command, in a separate process because limits on file sizes apply to a process.
import { openLmdbStore } from '../../dist/storage/lmdb/lmdb-store.js'

const store = await openLmdbStore(process.argv[2])
const acknowledged = []
let next = 0

const actions = {
  /** Writes until there is no space for a single write, several at a time while possible. */
  async fill() {
    const failures = []
    for (const length of [8, 1]) {
      for (let failed = []; failed.length === 0; failures.push(...failed)) {
        failed = (await Promise.all(Array.from({ length }, create))).filter(Boolean)
      }
    }
    return { count: acknowledged.length, failures }
  },
  /** Deletes everything, several at a time, and then writes something small. */
  async empty() {
    const deletes = acknowledged.splice(0).map(({ key, revision }) => store.delete(key, revision))
    const outcomes = await Promise.allSettled(deletes)
    const failures = outcomes.flatMap(({ status, reason }) => (status === 'rejected' ? [reason.code] : []))
    // History is removed afterwards, in steps.
    const deadline = Date.now() + 10_000
    const write = () =>
      store.create('/after/small', Buffer.alloc(100)).then(
        ({ done }) => done,
        () => false,
      )
    let writesAgain = await write()
    while (!writesAgain && Date.now() < deadline) writesAgain = await write()
    return { failures, writesAgain }
  },
  /** Writes once. */
  async write() {
    return (await create()) ?? 'done'
  },
  /** Reads back all acknowledged writes, with every read operation. */
  async read() {
    const { entries, revision } = await store.range('/')
    const listed = new Map(entries.map(entry => [entry.key, entry]))
    for (const { key, revision: written } of acknowledged) {
      const got = await store.get(key)
      const old = await store.get(key, { exactly: written })
      for (const entry of [got, old, listed.get(key)]) {
        if (entry?.revision !== written || entry.value.toString() !== valueOf(key)) return `${key} is lost`
      }
    }
    return { count: entries.length, ahead: revision - acknowledged.length }
  },
  /** Replaces the same entries until history has filled the disk, then compacts it; repeatedly. */
  async churn() {
    const revisions = new Map()
    const rounds = []
    while (rounds.length < 4) {
      const failure = await replaceUntilFailure(revisions)
      await store.compact(await store.revision())
      // Compacted history is removed afterwards, in steps.
      const deadline = Date.now() + 10_000
      let again = await replaceAll(revisions)
      for (; again && Date.now() < deadline; again = await replaceAll(revisions)) {
        await new Promise(resolve => setTimeout(resolve, 5))
      }
      rounds.push({ filled: failure.code, writesAgain: again === undefined })
    }
    return rounds
  },
  async close() {
    await store.close()
    setImmediate(() => process.disconnect())
    return 'closed'
  },
}

process.on('message', action => void actions[action]().then(answer => process.send(answer)))
process.send('ready')

async function replaceUntilFailure(revisions) {
  for (;;) {
    const failure = await replaceAll(revisions)
    if (failure) return failure
  }
}

/** Writes 20 entries, one after the other; returns the first error. */
async function replaceAll(revisions) {
  for (let i = 0; i < 20; i++) {
    const key = `/churned/${i}`
    const had = revisions.get(key)
    const value = Buffer.alloc(3000)
    try {
      const { revision } = had ? await store.update(key, value, had) : await store.create(key, value)
      revisions.set(key, revision)
    } catch (error) {
      return error
    }
  }
  return undefined
}

async function create() {
  const key = `/things/${next++}`
  try {
    const { revision } = await store.create(key, Buffer.from(valueOf(key)))
    acknowledged.push({ key, revision })
    return undefined
  } catch ({ code, message }) {
    return { code, message }
  }
}

function valueOf(key) {
  return `${key} ${'x'.repeat(10_000)}`
}
