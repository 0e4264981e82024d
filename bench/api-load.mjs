// Loads a server with requests, in a process of its own, which receives its work and answers by messages.
import { connectHttp2, requestTemplate } from './raw-http2.mjs'

const TASKS = { repeat, watch, waitForEvents, endWatches }

process.on('message', message => void carryOut(message))

async function carryOut({ id, task, args }) {
  try {
    process.send({ id, result: await TASKS[task](args) })
  } catch (error) {
    process.send({ id, error: error.stack })
  }
}

/** Connections are kept from round to round, as clients keep them. The server closes those that are not used for long. */
const pools = new Map()
async function poolOf({ url, ca }, size) {
  const key = `${url} ${size}`
  const pool = pools.get(key) ?? Array.from({ length: size })
  const open = await connectAll(
    pool.map(each => (each && !each.isClosed ? each : undefined)),
    url,
    ca,
  )
  pools.set(key, open)
  return open
}

/** Opens the connections that are missing, some at a time: a server ends handshakes that wait for long. */
async function connectAll(connections, url, ca) {
  const open = []
  for (let i = 0; i < connections.length; i += HANDSHAKES) {
    open.push(...(await Promise.all(connections.slice(i, i + HANDSHAKES).map(each => each ?? connectHttp2(url, ca)))))
  }
  return open
}
const HANDSHAKES = 32

const templateOf = (
  { url, token },
  {
    method,
    path,
    body,
    formats: { accept = 'application/json', contentType = 'application/json', acceptEncoding } = {},
  },
) =>
  requestTemplate(
    {
      ':method': method,
      ':scheme': 'https',
      ':authority': new URL(url).host,
      authorization: `Bearer ${token}`,
      accept,
      ...(acceptEncoding && { 'accept-encoding': acceptEncoding }),
      ...(method === 'GET' ? {} : { 'content-type': contentType }),
    },
    path,
    body,
  )

/**
 * The same request `count` times, `streams` at once on each of `connections`. `{}` in its path and body is a number:
 * one after the other from `first`, or here and there below `below`. `formats`: `accept`, `contentType` and `acceptEncoding`.
 */
async function repeat({
  server,
  method = 'GET',
  path,
  body,
  count,
  first = 0,
  below = Infinity,
  connections,
  streams,
  formats,
}) {
  const pool = await poolOf(server, connections)
  const template = templateOf(server, { method, path, body, formats })
  let [started, ended, bytes, failures] = [0, 0, 0, 0]
  let example = ''
  let firstByteMs = Infinity
  const begin = performance.now()
  await new Promise((resolve, reject) => {
    /** One request after the other on this connection. */
    function begun(connection) {
      let isFirst = true
      let asked = 0
      const listener = {
        data(chunk, from, to) {
          bytes += to - from
          if (!isFirst) return
          isFirst = false
          firstByteMs = Math.min(firstByteMs, performance.now() - asked)
          if (!chunk.latin1Slice(from, Math.min(from + 40, to)).includes('"Status"')) return
          failures++
          example ||= chunk.toString('utf8', from, Math.min(from + 400, to))
        },
        ended(error) {
          if (error) return reject(error)
          if (++ended === count) return resolve()
          next()
        },
      }
      function next() {
        if (started === count) return
        const i = below === Infinity ? first + started : (started * 48_271) % below
        started++
        isFirst = true
        asked = performance.now()
        connection.request(template, i, listener)
      }
      next()
    }
    for (let i = 0; i < streams; i++) for (const connection of pool) begun(connection)
  })
  if (failures) throw new Error(`${failures} of ${count} ${method} ${path} failed: ${example}`)
  return { seconds: (performance.now() - begin) / 1000, bytes, firstByteMs }
}

/** The watches of each server that are open. */
const watches = new Map()

/** Opens so many watches; resolves when the server has begun to answer all of them. */
async function watch({ server, path, count, connections }) {
  const pool = await connectAll(Array.from({ length: connections }), server.url, server.ca)
  const state = { pool, events: 0, awaited: 0, ended: undefined, wake() {} }
  watches.set(server.url, state)
  const template = templateOf(server, { method: 'GET', path })
  await Promise.all(
    Array.from(
      { length: count },
      (_, i) =>
        new Promise((resolve, reject) => {
          pool[i % connections].request(template, 0, {
            begun: resolve,
            data(chunk, from, to) {
              // An event is a line.
              for (let at = from; at < to; at++) {
                at = chunk.indexOf(10, at)
                if (at === -1 || at >= to) break
                state.events++
              }
              if (state.events >= state.awaited) state.wake()
            },
            ended(error) {
              state.ended ??= error ?? new Error('the server ended a watch')
              reject(state.ended)
              state.wake()
            },
          })
        }),
    ),
  )
}

/** Resolves when so many events have come in all, since the last time. */
async function waitForEvents({ server, count }) {
  const state = watches.get(server.url)
  state.awaited = count
  while (state.events < count) {
    if (state.ended) throw state.ended
    await new Promise(resolve => (state.wake = resolve))
  }
  state.events -= count
}

function endWatches({ server }) {
  for (const connection of watches.get(server.url).pool) connection.close()
}
