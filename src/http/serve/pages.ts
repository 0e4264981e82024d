// Serves discovery.
import type { Discovery } from '../../discovery/discovery.js'
import { StatusError } from '../../meta/errors/status.js'
import type { Encoding } from '../../response/output-format.js'
import { sendError } from '../errors.js'
import { checkRouteAccepts, documents, findFormat } from '../negotiation/negotiation.js'
import type { FindPath, PathHandler } from './paths.js'

export const findPage =
  (discovery: Discovery): FindPath =>
  path => {
    const page = discovery.find(path)
    return page && (request => showPage(page, request))
  }

type Page = NonNullable<ReturnType<Discovery['find']>>

async function showPage(page: Page, { info: { path, query }, reply, cbor }: Parameters<PathHandler>[0]): Promise<void> {
  const { method, headers } = reply.exchange
  let offered: readonly Encoding[] | undefined
  try {
    const answer = page({
      method,
      path,
      ifNoneMatch: headers['if-none-match'],
      findFormat(offer) {
        offered = offer.encodings
        return findFormat({ headers, query, cbor }, offer)
      },
      checkRoute: encodings => checkRouteAccepts(headers, encodings, false, cbor),
    })
    await reply.whole(answer.status, answer.headers, answer.body)
  } catch (error) {
    if (!(error instanceof StatusError) || !offered) throw error
    // Errors of a page are sent in the encodings of the page.
    sendError(reply, query, error.status, { offer: offerOf(offered), cbor })
  }
}

/** One offer for each list of encodings, because results are cached by offer. */
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
