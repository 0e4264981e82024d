// The pages below /debug/api_priority_and_fairness: a line for each level, queue or request, in columns.
import { printDuration } from '../meta/values/time.js'
import { type FlowControl, flowOfPlace, type ShownLevel } from './flow-control.js'
import type { Place } from './queuing/queue.js'

export const DEBUG_PATHS = {
  dump_priority_levels: dumpLevels,
  dump_queues: dumpQueues,
  dump_requests: dumpRequests,
} as const

type Row = readonly (string | number | boolean)[]

function dumpLevels(control: FlowControl): string {
  const headers =
    'PriorityLevelName ActiveQueues IsIdle IsQuiescing WaitingRequests ExecutingRequests DispatchedRequests RejectedRequests TimedoutRequests CancelledRequests'
  const rows = control.levels().map(({ state, isQuiescing }): Row => {
    const { spec, queues, waiting, executing, dispatched, rejected, cancelled } = state
    const active = queues.filter(queue => queue.waiting.size > 0).length
    const isIdle = waiting === 0 && executing === 0
    return [spec.name, active, isIdle, isQuiescing, waiting, executing, dispatched, rejected, 0, cancelled]
  })
  return inColumns([headers.split(' '), ...rows])
}

function dumpQueues(control: FlowControl): string {
  const headers =
    'PriorityLevelName Index PendingRequests ExecutingRequests SeatsInUse NextDispatchR InitialSeatsSum MaxSeatsSum TotalWorkSum'
  const rows = control.levels().flatMap(({ state: { spec, queues } }) =>
    queues.map((queue): Row => {
      const { index, waiting, executing, seatsInUse, nextDispatchR } = queue
      const { waitingInitialSeats, waitingSeats, waitingWork } = queue
      const counts = [waiting.size, executing.length, seatsInUse]
      const sums = [waitingInitialSeats, waitingSeats, seatSeconds(waitingWork)]
      return [spec.name, index, ...counts, seatSeconds(nextDispatchR), ...sums]
    }),
  )
  return inColumns([headers.split(' '), ...rows])
}

function dumpRequests(control: FlowControl, query: URLSearchParams): string {
  const hasDetails = (query.get('includeRequestDetails') ?? '') !== ''
  const headers =
    'PriorityLevelName FlowSchemaName QueueIndex RequestIndexInQueue FlowDistingsher ArriveTime InitialSeats FinalSeats AdditionalLatency StartTime'
  const details = 'UserName Verb APIPath Namespace Name APIVersion Resource SubResource'
  const rows: Row[] = []
  const add = (level: ShownLevel, place: Place, queue: number, index: number): void => {
    const cells = requestCells(level, place, queue, index)
    rows.push(hasDetails ? [...cells, ...detailCells(place)] : cells)
  }
  for (const level of control.levels()) {
    for (const { index, waiting, executing } of level.state.queues) {
      for (const [i, place] of [...waiting].entries()) add(level, place, index, i)
      for (const place of executing) add(level, place, index, -1)
    }
    for (const place of level.state.queueless) add(level, place, -1, -1)
  }
  return inColumns([[...headers.split(' '), ...(hasDetails ? details.split(' ') : [])], ...rows])
}

function requestCells({ state }: ShownLevel, place: Place, queue: number, index: number): Row {
  const { initialSeats, finalSeats, additionalMs } = place.estimate
  const { schema, distinguisher } = flowOfPlace(place)
  return [
    state.spec.name,
    schema,
    queue,
    index,
    distinguisher,
    timeOf(place.arrivedAt),
    initialSeats,
    finalSeats,
    printDuration(BigInt(Math.round(additionalMs * 1e6))),
    place.startedAt === 0 ? '0001-01-01T00:00:00Z' : timeOf(place.startedAt),
  ]
}

function detailCells({ shown: { user, info } }: Place): Row {
  const { verb, path, namespace, name, group, version, resource, subresource } = info
  const apiVersion = group === '' ? version : `${group}/${version}`
  return [user.name, verb, path, namespace, name, apiVersion, resource, subresource]
}

const timeOf = (ms: number): string => new Date(performance.timeOrigin + ms).toISOString()

const seatSeconds = (value: number): string => `${value.toFixed(8)}ss`

const MIN_WIDTH = 8

/** Cells end with a comma, and columns are as wide as their widest cell and a space. */
function inColumns(rows: readonly Row[]): string {
  const cells = rows.map(row => row.map((cell, i) => (i < row.length - 1 ? `${cell},` : String(cell))))
  const widths = (cells[0] ?? []).map((_, i) => Math.max(MIN_WIDTH, ...cells.map(row => row[i]!.length + 1)))
  return cells
    .map(row => `${row.map((cell, i) => (i < row.length - 1 ? cell.padEnd(widths[i]!) : cell)).join('')}\n`)
    .join('')
}
