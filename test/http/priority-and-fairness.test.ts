// Requests of a level with one seat, over sockets: some are served, some wait, some are rejected.
import { afterEach, expect, test } from 'vitest'
import { createMetrics } from '../../src/base/metrics.js'
import { mandatoryFlowObjects } from '../../src/builtin/flow-control.js'
import { DEBUG_PATHS } from '../../src/flowcontrol/debug-pages.js'
import { compileLevel, compileSchema, createFlowControl, type FlowControl } from '../../src/flowcontrol/flow-control.js'
import type { ApiObject } from '../../src/meta/object/api-object.js'
import { type ApiFixture, type Client, http2Client, startApi } from './api-fixture.js'

const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets'
const HELD = `${WIDGETS}/held`

let api: ApiFixture
let client: Client
afterEach(async () => {
  client.close()
  await api.close()
})

const object = (kind: string, name: string, spec: object): ApiObject =>
  ({ apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind, metadata: { name, uid: `${name}-uid` }, spec }) as ApiObject

/** All but administrators share one seat. */
function oneSeat(limitResponse: object): { flowControl: FlowControl; page(): Promise<string> } {
  const mandatory: readonly ApiObject[] = mandatoryFlowObjects()
  const metrics = createMetrics()
  const flowControl = createFlowControl(
    { serverSeats: 1, metrics, statsOf: () => undefined, watchList: true, defaultWaitMs: 1000 },
    {
      levels: mandatory.filter(({ kind }) => kind !== 'FlowSchema').map(compileLevel),
      schemas: mandatory.filter(({ kind }) => kind === 'FlowSchema').map(compileSchema),
    },
  )
  const limited = { nominalConcurrencyShares: 1, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse }
  const rule = {
    subjects: [{ kind: 'User', user: { name: '*' } }],
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
  }
  const spec = { matchingPrecedence: 9, priorityLevelConfiguration: { name: 'small' }, rules: [rule] }
  flowControl.configure(
    [compileLevel(object('PriorityLevelConfiguration', 'small', { type: 'Limited', limited }))],
    [compileSchema(object('FlowSchema', 'all', spec))],
  )
  return { flowControl, page: () => metrics.print() }
}

const QUEUE = { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } }

/** Gets of one object are held until `release` is called. */
async function start(limitResponse: object) {
  const { flowControl, page } = oneSeat(limitResponse)
  let release = (): void => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  api = await startApi({
    flowControl,
    authenticate: ({ headers }) => ({
      name: 'someone',
      uid: '',
      groups: headers['x-admin'] ? ['system:masters'] : [],
      extra: {},
    }),
    around: verbs => ({
      ...verbs,
      async get(request, target, query) {
        if (target.name === 'held') await held
        return verbs.get(request, target, query)
      },
    }),
  })
  client = await http2Client(api)
  const small = flowControl.levels().find(({ state }) => state.spec.name === 'small')
  return { flowControl, page, release: () => release(), state: small!.state }
}

test('a level that rejects answers 429 with the headers of the flow', async () => {
  const { release, page, state } = await start({ type: 'Reject' })
  const first = client.send({ path: HELD })
  await expect.poll(() => state.executing).toBe(1)
  const second = await client.send({ path: WIDGETS })
  expect([second.status, second.text]).toEqual([429, 'Too many requests, please try again later.\n'])
  expect(second.headers).toMatchObject({
    'retry-after': '1',
    'x-kubernetes-pf-flowschema-uid': 'all-uid',
    'x-kubernetes-pf-prioritylevel-uid': 'small-uid',
  })
  expect((await client.send({ path: WIDGETS, headers: { 'x-admin': 'yes' } })).status).toBe(200)
  expect(await page()).toContain(
    'apiserver_flowcontrol_rejected_requests_total{flow_schema="all",priority_level="small",reason="concurrency-limit"} 1',
  )
  release()
  expect((await first).status).toBe(404)
  expect((await client.send({ path: WIDGETS })).status).toBe(200)
  expect(state).toMatchObject({ executing: 0, seatsInUse: 0 })
})

test('a request waits for its seat, and a third finds the queue full', async () => {
  const { release, state, flowControl, page } = await start(QUEUE)
  const first = client.send({ path: HELD })
  await expect.poll(() => state.executing).toBe(1)
  const body = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } }
  const second = client.send({ method: 'POST', path: WIDGETS, body })
  await expect.poll(() => state.waiting).toBe(1)
  expect((await client.send({ path: WIDGETS })).status).toBe(429)
  expect(DEBUG_PATHS.dump_requests(flowControl, new URLSearchParams('includeRequestDetails=1'))).toMatch(
    /^small, +all, +0, +0, .*someone, +create,.*\nsmall, +all, +0, +-1, .*someone, +get,/m,
  )
  release()
  expect([(await first).status, (await second).status]).toEqual([404, 201])
  expect(await page()).toContain('reason="queue-full"} 1')
})

test('a request waits for a quarter of its time, and leaves the queue when its client goes', async () => {
  const { release, state, page } = await start(QUEUE)
  const first = client.send({ path: HELD })
  await expect.poll(() => state.executing).toBe(1)
  expect((await client.send({ path: `${WIDGETS}?timeout=40ms` })).status).toBe(429)
  expect(state).toMatchObject({ waiting: 0, cancelled: 1 })
  expect(await page()).toContain('reason="time-out"} 1')
  const other = await http2Client(api)
  const gone = other.send({ path: WIDGETS }).catch(() => 'gone')
  await expect.poll(() => state.waiting).toBe(1)
  other.close()
  await expect.poll(() => state.waiting).toBe(0)
  release()
  await first
  void gone
})

test('a watch has a seat until it has begun', async () => {
  const { state, page } = await start(QUEUE)
  for (let i = 0; i < 3; i++) expect((await client.open({ path: `${WIDGETS}?watch=true` })).status).toBe(200)
  expect(state).toMatchObject({ executing: 0, seatsInUse: 0, dispatched: 3 })
  expect(await page()).toContain(
    'request_execution_seconds_count{flow_schema="all",priority_level="small",type="watch"} 3',
  )
})
