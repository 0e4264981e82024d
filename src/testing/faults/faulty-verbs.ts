// The verbs of a server with faults before and after them.
import { setTimeout as sleep } from 'node:timers/promises'
import { StatusError, type StatusReason, tooOldResourceVersion } from '../../meta/errors/status.js'
import { ConnectionCut } from '../../request/connection-cut.js'
import type { Request } from '../../request/request.js'
import type { Target } from '../../request/target.js'
import type { Verbs } from '../../verbs/verbs.js'
import { type Fault, millisecondsOf } from './fault.js'
import type { FaultInjector } from './faults.js'
import { faultyWatch } from './faulty-watch.js'
import { allowsOldState, exactlyAt, laggingGet, laggingWatch } from './lagging-reads.js'

/** `revision` is that of the latest write. */
export function faultyVerbs(verbs: Verbs, injector: FaultInjector, revision: () => Promise<number>): Verbs {
  /** Runs a verb among the faults of its request. */
  async function among<T>(
    request: Request,
    kind: string,
    run: (faults: readonly Fault[]) => T | Promise<T>,
  ): Promise<T> {
    const faults = injector.take(request.info, kind, request.user.name)
    for (const fault of faults) await before(fault)
    const result = await run(faults)
    if (faults.some(({ cut }) => cut === 'after')) throw new ConnectionCut('cut after the request took effect')
    return result
  }

  /** The revision that a lagging server shows, if a fault makes it lag and the reader allows it. */
  async function oldRevision(query: URLSearchParams, faults: readonly Fault[]): Promise<string | undefined> {
    const fault = faults.find(({ asOf, behind }) => asOf !== undefined || behind !== undefined)
    if (!fault || !allowsOldState(query)) return undefined
    return fault.asOf ?? String(Math.max(1, (await revision()) - fault.behind!))
  }

  return {
    // Without faults, a get stays synchronous.
    get: (request, target, query) =>
      injector.active.length === 0
        ? verbs.get(request, target, query)
        : among(request, kindOf(target), async faults => {
            const at = isStored(target) ? await oldRevision(query, faults) : undefined
            return at === undefined ? verbs.get(request, target, query) : laggingGet(verbs, request, target, at)
          }),
    list: (request, target, query) =>
      among(request, kindOf(target), async faults => {
        const at = await oldRevision(query, faults)
        return verbs.list(request, target, at === undefined ? query : exactlyAt(at, query))
      }),
    watch: (request, target, query) =>
      among(request, kindOf(target), async faults => {
        const at = await oldRevision(query, faults)
        const watch = await (at === undefined
          ? verbs.watch(request, target, query)
          : laggingWatch(verbs, request, target, query, at))
        return faults.reduce((wrapped, fault) => (fault.watch ? faultyWatch(wrapped, fault.watch) : wrapped), watch)
      }),
    create: (request, target, ...rest) => among(request, kindOf(target), () => verbs.create(request, target, ...rest)),
    update: (request, target, ...rest) => among(request, kindOf(target), () => verbs.update(request, target, ...rest)),
    patch: (request, target, ...rest) => among(request, kindOf(target), () => verbs.patch(request, target, ...rest)),
    delete: (request, target, ...rest) => among(request, kindOf(target), () => verbs.delete(request, target, ...rest)),
    deleteCollection: (request, target, ...rest) =>
      among(request, kindOf(target), () => verbs.deleteCollection(request, target, ...rest)),
    createVirtual: (request, resource, ...rest) =>
      among(request, resource.resource.kind, () => verbs.createVirtual(request, resource, ...rest)),
    connect: (request, resource, ...rest) =>
      among(request, resource.resource.kind, () => verbs.connect(request, resource, ...rest)),
  }
}

const kindOf = ({ kind }: Target): string => kind.names.kind

/** Others are computed from what is stored, such as the Scale of an object. */
const isStored = ({ kind, subresource }: Target): boolean => !kind.computed && subresource !== 'scale'

async function before(fault: Fault): Promise<void> {
  if (fault.latency !== undefined) await sleep(millisecondsOf(fault.latency))
  if (fault.cut === 'before') throw new ConnectionCut('cut before the request took effect')
  if (fault.watch?.expired) throw tooOldResourceVersion(0, 0)
  if (fault.status !== undefined) throw refusal(fault.status, fault.retryAfter)
}

const REASONS: Readonly<Record<number, StatusReason>> = {
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

function refusal(code: number, retryAfterSeconds: number | undefined): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `an injected fault: ${REASONS[code]}`,
    reason: REASONS[code]!,
    ...(retryAfterSeconds !== undefined && { details: { retryAfterSeconds } }),
    code,
  })
}
