// The row of a pod in a Table: its status column sums up the states of its containers.

import { ageCell } from '../../../meta/table.js'
import { has, numberAt, objectAt, objectOrNone, objectsAt, stringAt } from '../../../meta/values/access.js'
import { firstByKey } from '../../../meta/values/list-keys.js'
import { millisOf } from '../../../meta/values/time.js'
import type { Value, ValueObject } from '../../../meta/values/value.js'
import { NONE } from '../../common/table-cells.js'

export function podRow(pod: ValueObject, now: number): Value[] {
  const spec = objectAt(pod, 'spec')
  const status = objectAt(pod, 'status')
  const meta = objectAt(pod, 'metadata')
  const { reason, ready, restarts, lastRestart } = summaryOf(pod)
  const sidecars = objectsAt(spec, 'initContainers').filter(isSidecar).length
  const [first] = objectsAt(status, 'podIPs')
  return [
    stringAt(meta, 'name'),
    `${ready}/${objectsAt(spec, 'containers').length + sidecars}`,
    reason,
    restarts > 0 && lastRestart !== undefined ? `${restarts} (${ageCell(lastRestart, now)} ago)` : String(restarts),
    ageCell(meta['creationTimestamp'], now),
    (first === undefined ? '' : stringAt(first, 'ip')) || NONE,
    stringAt(spec, 'nodeName') || NONE,
    stringAt(status, 'nominatedNodeName') || NONE,
    gatesOf(spec, status),
  ]
}

/** The condition of the row of a pod that has ended. */
export function podRowConditions(pod: ValueObject): ValueObject[] {
  const phase = stringAt(objectAt(pod, 'status'), 'phase')
  const message = { Succeeded: 'The pod has completed successfully.', Failed: 'The pod failed.' }[phase]
  return message === undefined ? [] : [{ type: 'Completed', status: 'True', reason: phase, message }]
}

interface Summary {
  readonly reason: string
  readonly ready: number
  readonly restarts: number
  readonly lastRestart: string | undefined
}

function summaryOf(pod: ValueObject): Summary {
  const status = objectAt(pod, 'status')
  const phase = stringAt(status, 'phase')
  const start = initialSummary(pod, stringAt(status, 'reason') || phase)
  const summary =
    start.initializing && conditionOf(status, 'Initialized') !== 'True' ? start : runningSummary(status, start)
  if (!has(objectAt(pod, 'metadata'), 'deletionTimestamp')) return summary
  if (stringAt(status, 'reason') === 'NodeLost') return { ...summary, reason: 'Unknown' }
  return phase === 'Succeeded' || phase === 'Failed' ? summary : { ...summary, reason: 'Terminating' }
}

interface InitialSummary extends Summary {
  readonly initializing: boolean
  /** Restarts of the sidecars. */
  readonly sidecars: { readonly restarts: number; readonly lastRestart: string | undefined }
}

/** The summary of the init containers. */
function initialSummary(pod: ValueObject, phaseOrReason: string): InitialSummary {
  const spec = objectAt(pod, 'spec')
  const status = objectAt(pod, 'status')
  const gated = objectsAt(status, 'conditions').some(
    condition => stringAt(condition, 'type') === 'PodScheduled' && stringAt(condition, 'reason') === 'SchedulingGated',
  )
  let reason = gated ? 'SchedulingGated' : phaseOrReason
  let initializing = false
  let ready = 0
  let restarts = 0
  let lastRestart: string | undefined
  const sidecars = { restarts: 0, lastRestart: undefined as string | undefined }
  const containers = objectsAt(spec, 'initContainers')
  const restarted = new Set(containers.filter(isSidecar).map(own => stringAt(own, 'name')))
  for (const [i, container] of objectsAt(status, 'initContainerStatuses').entries()) {
    restarts += numberAt(container, 'restartCount')
    lastRestart = later(lastRestart, lastEnd(container))
    const isRestarted = restarted.has(stringAt(container, 'name'))
    if (isRestarted) {
      sidecars.restarts += numberAt(container, 'restartCount')
      sidecars.lastRestart = later(sidecars.lastRestart, lastEnd(container))
    }
    const state = objectAt(container, 'state')
    const ended = objectOrNone(state, 'terminated')
    if (ended !== undefined && numberAt(ended, 'exitCode') === 0) continue
    if (isRestarted && container['started'] === true) {
      if (container['ready'] === true) ready++
      continue
    }
    initializing = true
    const waiting = stringAt(objectAt(state, 'waiting'), 'reason')
    if (ended !== undefined) reason = `Init:${endOf(ended)}`
    else if (waiting !== '' && waiting !== 'PodInitializing') reason = `Init:${waiting}`
    else reason = `Init:${i}/${containers.length}`
    break
  }
  return { reason, ready, restarts, lastRestart, initializing, sidecars }
}

/** The summary of the containers. The first with a reason counts, so they are visited from the last to the first. */
function runningSummary(status: ValueObject, start: InitialSummary): Summary {
  let { reason, ready } = start
  let { restarts, lastRestart } = start.sidecars
  let running = false
  for (const container of objectsAt(status, 'containerStatuses').toReversed()) {
    restarts += numberAt(container, 'restartCount')
    lastRestart = later(lastRestart, lastEnd(container))
    const state = objectAt(container, 'state')
    const waiting = stringAt(objectAt(state, 'waiting'), 'reason')
    const ended = objectOrNone(state, 'terminated')
    if (waiting !== '') reason = waiting
    else if (ended !== undefined) reason = endOf(ended)
    else if (container['ready'] === true && has(state, 'running')) {
      running = true
      ready++
    }
  }
  if (reason === 'Completed' && running) reason = conditionOf(status, 'Ready') === 'True' ? 'Running' : 'NotReady'
  return { reason, ready, restarts, lastRestart }
}

const isSidecar = (container: ValueObject): boolean => stringAt(container, 'restartPolicy') === 'Always'

function endOf(ended: ValueObject): string {
  if (stringAt(ended, 'reason') !== '') return stringAt(ended, 'reason')
  const signal = numberAt(ended, 'signal')
  return signal === 0 ? `ExitCode:${numberAt(ended, 'exitCode')}` : `Signal:${signal}`
}

const lastEnd = (container: ValueObject): string | undefined =>
  stringAt(objectAt(objectAt(container, 'lastState'), 'terminated'), 'finishedAt') || undefined

const later = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || (b !== undefined && millisOf(b) > millisOf(a)) ? b : a

const conditionOf = (status: ValueObject, type: string): string => {
  const found = objectsAt(status, 'conditions').find(condition => stringAt(condition, 'type') === type)
  return found === undefined ? '' : stringAt(found, 'status')
}

function gatesOf(spec: ValueObject, status: ValueObject): string {
  const gates = objectsAt(spec, 'readinessGates').map(gate => stringAt(gate, 'conditionType'))
  if (gates.length === 0) return NONE
  const conditions = firstByKey(objectsAt(status, 'conditions'), condition => stringAt(condition, 'type'))
  const isMet = (type: string): boolean => stringAt(conditions.get(type) ?? {}, 'status') === 'True'
  return `${gates.filter(isMet).length}/${gates.length}`
}
