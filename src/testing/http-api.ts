// The testing API of `binnacle serve --testing`, by which programs in any language use what `binnacle/testing` offers:
//
//   GET    /binnacle/testing/requests            the requests so far
//   GET    /binnacle/testing/faults              the faults that are on, and what was injected
//   POST   /binnacle/testing/faults              {"verb": "update", "status": 409, "times": 1}: switches a fault on
//   DELETE /binnacle/testing/faults              switches all faults off
//   POST   /binnacle/testing/chaos               {"seed": 42}: switches a mixture of faults on
//   GET    /binnacle/testing/clock               {"now": "2026-01-01T00:00:00.000Z"}
//   POST   /binnacle/testing/clock               {"advance": "1h"}, {"freeze": true} or {"run": 60}
//   POST   /binnacle/testing/pods                {"namespace": "a", "name": "p" or "labels": "app=web"} with "fail": {…},
//                                                "complete": true, "evict": true or "ready": false
//   POST   /binnacle/testing/snapshots           {"name": "prepared"}
//   POST   /binnacle/testing/reset               {"name": "prepared"}, or {} for the state after the start
//   POST   /binnacle/testing/history/compact
//   POST   /binnacle/testing/forks               answers {"url", "token", "kubeconfig"} of a copy
//   DELETE /binnacle/testing/forks               stops all copies
//
// It is for administrators: other users need permission for these paths.
import { refuseUnknownFields } from '../base/known-fields.js'
import { UsageError } from '../base/usage-error.js'
import { BodyTooLarge, type Exchange } from '../http/exchange.js'
import type { PathRequest } from '../http/pages.js'
import { badRequest, requestEntityTooLarge } from '../meta/errors/status.js'
import type { TestServer } from './test-server.js'
import { TESTING_PATH } from './testing-path.js'

const MAX_BODY = 1024 * 1024

type Body = Readonly<Record<string, unknown>>
type Route = (body: Body) => unknown

export interface TestingApi {
  handle(request: PathRequest): Promise<void>
  /** Stops the copies. */
  stop(): Promise<void>
}

export function createTestingApi(server: TestServer): TestingApi {
  const forks = new Set<TestServer>()

  async function stopForks(): Promise<void> {
    const stopping = [...forks].map(fork => fork.stop())
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
    '/forks': {
      async POST() {
        const fork = await server.fork()
        forks.add(fork)
        const { url, token, kubeconfig } = fork
        return { url, token, kubeconfig }
      },
      DELETE: stopForks,
    },
  }

  return {
    async handle({ info, reply }) {
      const path = info.path.slice(TESTING_PATH.length)
      const methods = Object.hasOwn(routes, path) ? routes[path]! : undefined
      if (!methods)
        throw badRequest(`there is no ${info.path}: below ${TESTING_PATH} are ${Object.keys(routes).join(', ')}`)
      const { method } = reply.exchange
      const route = Object.hasOwn(methods, method) ? methods[method]! : undefined
      if (!route) throw badRequest(`${info.path} takes ${Object.keys(methods).join(', ')}, not ${method}`)
      const body = method === 'POST' ? parseBody(await readBody(reply.exchange)) : {}
      const answer = await carryOut(route, body)
      reply.send(200, { 'content-type': 'application/json' }, `${JSON.stringify(answer ?? {})}\n`)
    },
    stop: stopForks,
  }
}

async function carryOut(route: Route, body: Body): Promise<unknown> {
  try {
    return await route(body)
  } catch (error) {
    throw error instanceof UsageError ? badRequest(error.message) : error
  }
}

function moveClock({ clock }: TestServer, body: Body): void {
  refuseUnknownFields('the clock', body, ['advance', 'freeze', 'run'])
  const { advance, freeze, run } = body
  if (typeof advance === 'string' || typeof advance === 'number') clock.advance(advance)
  else if (freeze === true) clock.freeze()
  else if (typeof run === 'number') clock.run(run)
  else throw new UsageError('the clock takes {"advance": "1h"}, {"freeze": true} or {"run": 60}')
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
