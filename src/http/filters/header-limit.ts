// Limits how many header fields a request may have. All of them are read or the request is refused: a field that is
// dropped, such as Impersonate-User, would change whose rights the request has.
import { requestHeadersTooLarge, type StatusError } from '../../meta/errors/status.js'
import type { Exchange } from '../wire/exchange.js'

export const MAX_HEADERS = 2_000
/** The limit of Go's server for all fields together. */
export const MAX_HEADER_BYTES = 1024 * 1024

export function checkHeaders({ rawHeaders }: Exchange): void {
  // Names and values alternate.
  if (rawHeaders.length > 2 * MAX_HEADERS) throw tooManyHeaders()
}

const tooManyHeaders = (): StatusError => requestHeadersTooLarge(`limit is ${MAX_HEADERS} fields`)

export const tooLargeHeaders = (): StatusError => requestHeadersTooLarge(`limit is ${MAX_HEADER_BYTES} bytes`)
