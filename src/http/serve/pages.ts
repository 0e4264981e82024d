// The pages of discovery on the wire: what a page wants to know of a request, and how its answer goes out.
import type { Discovery } from '../../discovery/discovery.js'
import { StatusError } from '../../meta/errors/status.js'
import type { Encoding } from '../../response/output-format.js'
import { sendError } from '../errors.js'
import { checkRouteAccepts, documents, findForm } from '../negotiation/negotiation.js'
import type { FindPath, PathHandler } from './paths.js'

export const findPage =
  (discovery: Discovery): FindPath =>
  path => {
    const page = discovery.find(path)
    return page && (request => showPage(page, request))
  }

type Page = NonNullable<ReturnType<Discovery['find']>>

async function showPage(page: Page, { info: { path, query }, reply }: Parameters<PathHandler>[0]): Promise<void> {
  const { method, headers } = reply.exchange
  let offered: readonly Encoding[] | undefined
  try {
    const answer = page({
      method,
      path,
      ifNoneMatch: headers['if-none-match'],
      findFormat(offer) {
        offered = offer.encodings
        return findForm({ headers, query }, offer)
      },
      checkRoute: encodings => checkRouteAccepts(headers, encodings, false),
    })
    await reply.whole(answer.status, answer.headers, answer.body)
  } catch (error) {
    if (!(error instanceof StatusError) || !offered) throw error
    // A page tells its faults in the encodings that it has itself.
    sendError(reply, query, error.status, { offer: offerOf(offered) })
  }
}

/** One offer for each choice of encodings, since what is worked out for an offer is kept by it. */
const offers = new Map<string, ReturnType<typeof documents>>()

function offerOf(encodings: readonly Encoding[]): ReturnType<typeof documents> {
  const name = encodings.join()
  let offer = offers.get(name)
  if (!offer) {
    offer = documents(...encodings)
    offers.set(name, offer)
  }
  return offer
}
