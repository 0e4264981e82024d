// The server and the load generator, each in a process of its own, and what the system knows of them.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

export const TOKEN = 'bench-token'
export const here = name => fileURLToPath(new URL(name, import.meta.url))

/** The executable, as its users start it, under this Node or another one. */
export async function startOurs(dataDir, children, more = [], node = process.execPath) {
  const tokens = join(tmpdir(), `binnacle-bench-tokens-${process.pid}.csv`)
  writeFileSync(tokens, `${TOKEN},bench,bench-uid,system:masters\n`)
  const flags = [`--data-dir=${dataDir}`, '--secure-port=0', `--token-auth-file=${tokens}`, ...more]
  const child = spawn(node, [here('../bin/binnacle'), 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  let said = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    said += text
    const ready = /ready at (\S+?),/.exec(said)
    if (!ready) continue
    rmSync(tokens)
    const pem = name => readFileSync(join(dataDir, 'pki', name), 'utf8')
    const [, url] = ready
    return {
      name: 'Binnacle',
      url,
      token: TOKEN,
      ca: pem('ca.crt'),
      pid: child.pid,
      child,
      cert: pem('server.crt'),
      key: pem('server.key'),
    }
  }
  throw new Error('the server did not start')
}

/** Answers a function that has the load generator do something. */
export function startLoad(children) {
  const child = fork(here('./api-load.mjs'))
  children.push(child)
  const waiting = new Map()
  child.on('message', ({ id, result, error }) => {
    const { resolve, reject } = waiting.get(id)
    waiting.delete(id)
    if (error) reject(new Error(error))
    else resolve(result)
  })
  let last = 0
  return (task, { url, token, ca }, args = {}) =>
    new Promise((resolve, reject) => {
      const id = ++last
      waiting.set(id, { resolve, reject })
      child.send({ id, task, args: { server: { url, token, ca }, ...args } })
    })
}

/** One request, whose answer is wanted. */
export async function ask({ url, token, ca }, method, path, body, more = {}) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more.headers }
  const asking = request(new URL(path, url), {
    method,
    headers,
    ca,
    rejectUnauthorized: Boolean(ca),
    agent: more.agent,
  })
  asking.end(body && JSON.stringify(body))
  const [response] = await once(asking, 'response')
  const chunks = []
  for await (const chunk of response) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`)
  return text
}

export async function ended(child, how = 'stop') {
  const closed = once(child, 'close')
  child.stdout?.resume()
  if (how === 'stop') child.kill('SIGTERM')
  await closed
}

// — what the system knows of a process

const statusOf = (pid, field) =>
  Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) *
  1024
export const residentBytes = pid => statusOf(pid, 'VmRSS')
/** Without the files that are mapped into it, such as the program and the data file. */
export const ownBytes = pid => statusOf(pid, 'RssAnon')
export const mostResidentBytes = pid => statusOf(pid, 'VmHWM')

/** How much more memory than before the process had at most, while something was done. */
export async function memoryGrowth(pid, action) {
  const before = residentBytes(pid)
  writeFileSync(`/proc/${pid}/clear_refs`, '5') // the high-water mark counts from here
  await action()
  return statusOf(pid, 'VmHWM') - before
}

/** Resolves when the process has nothing to do: what it did after its start, or after the last request, is done. */
export async function whenIdle(pid) {
  for (let [before, quiet] = [Number.NEGATIVE_INFINITY, 0]; quiet < 5; ) {
    await sleep(200)
    // On a busy machine, a process that has much to do may get no processor for a while: it waits for one.
    const now = schedulingSeconds(pid, 0) + schedulingSeconds(pid, 1)
    quiet = now - before < 0.01 ? quiet + 1 : 0
    before = now
  }
}

/** The processor time of all threads of a process, which the kernel counts in nanoseconds. */
export const cpuSeconds = pid => (pid === undefined ? 0 : schedulingSeconds(pid, 0))

/** Of all threads: the time on a processor (field 0), or that of waiting for one (1). */
function schedulingSeconds(pid, field) {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[field])
  }
  return nanoseconds / 1e9
}
