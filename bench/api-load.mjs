// Loads a server with requests, in a process of its own, which receives its work and answers by messages.
import { connectHttp2, encodeHeaders } from './raw-http2.mjs'

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

const headersOf = (
  { url, token },
  method,
  path,
  { accept = 'application/json', contentType = 'application/json', acceptEncoding } = {},
) =>
  encodeHeaders({
    ':method': method,
    ':scheme': 'https',
    ':authority': new URL(url).host,
    ':path': path,
    authorization: `Bearer ${token}`,
    accept,
    ...(acceptEncoding && { 'accept-encoding': acceptEncoding }),
    ...(method === 'GET' ? {} : { 'content-type': contentType }),
  })

/** A place in a path or a body where the number of the request goes. */
const fill = (template, i) => template.replaceAll('{}', String(i).padStart(7, '0'))

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
  const isFixed = !path.includes('{}')
  const fixed = headersOf(server, method, path, formats)
  let [started, ended, bytes, failures] = [0, 0, 0, 0]
  let example = ''
  let firstByteMs = Infinity
  const begin = performance.now()
  await new Promise((resolve, reject) => {
    function next(connection) {
      if (started === count) return
      const i = below === Infinity ? first + started : (started * 48_271) % below
      started++
      let isFirst = true
      const asked = performance.now()
      connection.request(
        isFixed ? fixed : headersOf(server, method, fill(path, i), formats),
        body && Buffer.from(fill(body, i)),
        {
          data(chunk) {
            bytes += chunk.length
            if (!isFirst) return
            isFirst = false
            firstByteMs = Math.min(firstByteMs, performance.now() - asked)
            if (chunk.subarray(0, 40).includes('"Status"')) {
              failures++
              example ||= chunk.toString().slice(0, 400)
            }
          },
          ended(error) {
            if (error) return reject(error)
            if (++ended === count) return resolve()
            next(connection)
          },
        },
      )
    }
    for (let i = 0; i < streams; i++) for (const connection of pool) next(connection)
  })
  if (failures) throw new Error(`${failures} of ${count} ${method} ${path} failed: ${example}`)
  return { seconds: (performance.now() - begin) / 1000, bytes, firstByteMs }
}

/** The watches of each server that are open. */
const watches = new Map()

/** Opens so many watches; resolves when the server has begun to answer all of them. */
async function watch({ server, path, count, connections }) {
  const pool = await connectAll(Array.from({ length: connections }), server.url, server.ca)
  const state = { pool, events: 0, ended: undefined, wake() {} }
  watches.set(server.url, state)
  const headers = headersOf(server, 'GET', path)
  await Promise.all(
    Array.from(
      { length: count },
      (_, i) =>
        new Promise((resolve, reject) => {
          pool[i % connections].request(headers, undefined, {
            begun: resolve,
            data(chunk) {
              // An event is a line.
              for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) state.events++
              state.wake()
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
  while (state.events < count) {
    if (state.ended) throw state.ended
    await new Promise(resolve => (state.wake = resolve))
  }
  state.events -= count
}

function endWatches({ server }) {
  for (const connection of watches.get(server.url).pool) connection.close()
}
