// The testing API of `binnacle serve --testing`, by which programs in any language use what `binnacle/testing` offers:
//
//   GET    /binnacle/testing/requests            the requests so far
//   GET    /binnacle/testing/faults              the faults that are on, and what was injected
//   POST   /binnacle/testing/faults              {"verb": "update", "status": 409, "times": 1}: switches a fault on
//   DELETE /binnacle/testing/faults              switches all faults off
//   POST   /binnacle/testing/chaos               {"seed": 42}: switches a mixture of faults on; also {"plan": "mild"} or a list
//   GET    /binnacle/testing/clock               {"now": "2026-01-01T00:00:00.000Z"}
//   POST   /binnacle/testing/clock               {"advance": "1h"}, {"moveTo": "2030-01-01T00:00:00Z"}, {"freeze": true} or
//                                                {"run": 60}
//   POST   /binnacle/testing/pods                {"namespace": "a", "name": "p" or "labels": "app=web"} with "fail": {…},
//                                                "complete": true, "evict": true or "ready": false
//   POST   /binnacle/testing/snapshots           {"name": "prepared"}
//   POST   /binnacle/testing/reset               {"name": "prepared"}, or {} for the state after the start
//   POST   /binnacle/testing/history/compact
//   POST   /binnacle/testing/users               {"name": "jane", "groups": ["devs"]}: answers {"name", "token", "kubeconfig"}
//   POST   /binnacle/testing/recording           begins a recording, in the place of the one before
//   GET    /binnacle/testing/recording           {"requests", "changes", "report"} since then, or since the start
//   POST   /binnacle/testing/forks               answers {"id", "url", "token", "kubeconfig"} of a copy, which has this API, too
//   DELETE /binnacle/testing/forks/<id>          stops a copy
//   DELETE /binnacle/testing/forks               stops all copies
//
// It is for administrators: other users need permission for these paths.
import { refuseUnknownFields } from '../base/known-fields.js'
import { UsageError } from '../base/usage-error.js'
import { BodyTooLarge, type Exchange } from '../http/exchange.js'
import type { PathRequest } from '../http/pages.js'
import { badRequest, requestEntityTooLarge } from '../meta/errors/status.js'
import type { Recording } from './record/recording.js'
import type { TestServer } from './test-server-type.js'
import { TESTING_PATH } from './testing-path.js'

const MAX_BODY = 1024 * 1024

type Body = Readonly<Record<string, unknown>>
/** `name` is the last part of a path whose route ends with `*`. */
type Route = (body: Body, name: string) => unknown

export interface TestingApi {
  handle(request: PathRequest): Promise<void>
  /** Stops the copies. */
  stop(): Promise<void>
}

/** `startRecording` records from now on. */
export function createTestingApi(
  server: TestServer,
  startRecording: () => Pick<Recording, 'requests' | 'changes' | 'report'>,
): TestingApi {
  const forks = new Map<string, TestServer>()
  let recording = startRecording()
  let forkCount = 0

  async function stopForks(): Promise<void> {
    const stopping = [...forks.values()].map(fork => fork.stop())
    forks.clear()
    await Promise.all(stopping)
  }

  const routes: Readonly<Record<string, Readonly<Record<string, Route>>>> = {
    '/requests': { GET: () => ({ requests: [...server.requests] }), DELETE: () => server.requests.clear() },
    '/faults': {
      GET: () => ({ active: server.faults.active, report: server.faults.report }),
      POST: body => void server.faults.inject(body),
      DELETE: () => server.faults.clear(),
    },
    '/chaos': { POST: body => void server.faults.chaos(body as { readonly seed: number }) },
    '/clock': {
      GET: () => ({ now: new Date(server.clock.now()).toISOString() }),
      POST: body => moveClock(server, body),
    },
    '/pods': { POST: body => actOnPods(server, body) },
    '/snapshots': { POST: body => server.snapshot(requiredText('name', onlyName('a snapshot', body))) },
    '/reset': {
      POST(body) {
        const name = onlyName('a reset', body)
        return server.reset(name === undefined ? undefined : requiredText('name', name))
      },
    },
    '/history/compact': { POST: () => server.compactHistory() },
    '/users': {
      POST(body) {
        const { name, token, kubeconfig } = server.users.create(body)
        return { name, token, kubeconfig }
      },
    },
    '/recording': {
      GET: () => ({ requests: recording.requests, changes: recording.changes(), report: recording.report() }),
      POST: () => void (recording = startRecording()),
    },
    '/forks': {
      async POST() {
        const fork = await server.fork()
        const id = String(++forkCount)
        forks.set(id, fork)
        const { url, token, kubeconfig } = fork
        return { id, url, token, kubeconfig }
      },
      DELETE: stopForks,
    },
    '/forks/*': {
      async DELETE(_, id) {
        const fork = forks.get(id)
        if (!fork) throw new UsageError(`there is no fork ${id}: there are ${[...forks.keys()].join(', ') || 'none'}`)
        forks.delete(id)
        await fork.stop()
      },
    },
  }

  const methodsOf = (path: string): Readonly<Record<string, Route>> | undefined =>
    Object.hasOwn(routes, path) ? routes[path] : undefined

  return {
    async handle({ info, reply }) {
      const path = info.path.slice(TESTING_PATH.length)
      const [, parent = '', name = ''] = /^(.*\/)([^/]+)$/.exec(path) ?? []
      const methods = methodsOf(path) ?? methodsOf(`${parent}*`)
      if (!methods)
        throw badRequest(`there is no ${info.path}: below ${TESTING_PATH} are ${Object.keys(routes).join(', ')}`)
      const { method } = reply.exchange
      const route = Object.hasOwn(methods, method) ? methods[method]! : undefined
      if (!route) throw badRequest(`${info.path} takes ${Object.keys(methods).join(', ')}, not ${method}`)
      const body = method === 'POST' ? parseBody(await readBody(reply.exchange)) : {}
      const answer = await carryOut(() => route(body, name))
      reply.send(200, { 'content-type': 'application/json' }, `${JSON.stringify(answer ?? {})}\n`)
    },
    stop: stopForks,
  }
}

async function carryOut(run: () => unknown): Promise<unknown> {
  try {
    return await run()
  } catch (error) {
    throw error instanceof UsageError ? badRequest(error.message) : error
  }
}

function moveClock({ clock }: TestServer, body: Body): void {
  refuseUnknownFields('the clock', body, ['advance', 'moveTo', 'freeze', 'run'])
  const { advance, moveTo, freeze, run } = body
  if (typeof advance === 'string' || typeof advance === 'number') clock.advance(advance)
  else if (typeof moveTo === 'string' && !Number.isNaN(Date.parse(moveTo))) clock.moveTo(new Date(moveTo))
  else if (freeze === true) clock.freeze()
  else if (typeof run === 'number') clock.run(run)
  else {
    throw new UsageError(
      'the clock takes {"advance": "1h"}, {"moveTo": "2030-01-01T00:00:00Z"}, {"freeze": true} or {"run": 60}',
    )
  }
}

async function actOnPods({ pods }: TestServer, { namespace, name, labels, ...actions }: Body): Promise<void> {
  const reference = {
    ...(namespace !== undefined && { namespace: requiredText('namespace', namespace) }),
    ...(name !== undefined && { name: requiredText('name', name) }),
    ...(labels !== undefined && { labels: requiredText('labels', labels) }),
  }
  const { fail, complete, evict, ready } = actions
  const wrong = Object.keys(actions).length !== 1
  if (!wrong && typeof fail === 'object' && fail !== null) await pods.fail(reference, fail)
  else if (!wrong && fail === true) await pods.fail(reference)
  else if (!wrong && complete === true) await pods.complete(reference)
  else if (!wrong && evict === true) await pods.evict(reference)
  else if (!wrong && typeof ready === 'boolean') await pods.setReady(reference, ready)
  else
    throw new UsageError(
      'pods take one of {"fail": {"exitCode": 1}}, {"complete": true}, {"evict": true}, {"ready": false}',
    )
}

function onlyName(what: string, body: Body): unknown {
  refuseUnknownFields(what, body, ['name'])
  return body['name']
}

function requiredText(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw new UsageError(`${name} must be a text`)
}

async function readBody(exchange: Exchange): Promise<Buffer> {
  try {
    return await exchange.body(MAX_BODY)
  } catch (error) {
    throw error instanceof BodyTooLarge ? requestEntityTooLarge(`limit is ${MAX_BODY}`) : error
  }
}

function parseBody(bytes: Buffer): Body {
  if (bytes.length === 0) return {}
  try {
    const body: unknown = JSON.parse(bytes.toString())
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Body
  } catch {
    // The same answer as for other wrong bodies.
  }
  throw badRequest('the body must be a JSON object')
}
