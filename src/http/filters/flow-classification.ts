// The flow schema and the priority level of a request, whose UIDs every response carries in two headers. Connections to pods
// and the like belong to none: they are not limited.

import type { FlowControl } from '../../flowcontrol/flow-control.js'
import type { IncomingRequest } from '../wire/incoming-request.js'
import { isLongRunning } from './deadline.js'

export function classifyRequest(request: IncomingRequest, flowControl: FlowControl | undefined): void {
  const { user, info } = request
  if (!flowControl || (info.verb !== 'watch' && isLongRunning(info))) return
  request.flow = flowControl.classify(user, info)
}
