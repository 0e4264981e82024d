// A watch: the response stays open, and `ended` is called when it is over.

import type { Verbs } from '../../verbs/verbs.js'
import { negotiateFormat } from '../negotiation/negotiation.js'
import type { IncomingRequest } from '../wire/incoming-request.js'
import type { WatchStreams } from '../wire/watch-stream.js'
import type { Outcome } from './outcome.js'
import type { Route } from './routing.js'

export async function serveWatch(
  verbs: Verbs,
  watches: WatchStreams,
  request: IncomingRequest,
  { target, query, offer }: Route,
  ended: () => void,
): Promise<Outcome> {
  const { exchange, info, cbor } = request
  const form = negotiateFormat({ headers: exchange.headers, query: info.query, cbor }, offer)
  const watch = await verbs.watch(request, target, query)
  watches.serve(request, watch, form, query, ended)
  return 'streaming'
}
