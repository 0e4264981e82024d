// How serving a request ends, and how the result of a verb is sent.

import type { Awaitable } from '../../base/awaitable.js'
import { encodeResult } from '../../response/encode-result.js'
import type { OutputFormat } from '../../response/output-format.js'
import type { Result } from '../../verbs/result.js'
import type { ResponseWriter } from '../wire/response-writer.js'

/** `streaming`: the handler has returned but the response is still open, as that of a watch is. */
export type Outcome = 'done' | 'streaming'

export function sendResult(
  reply: ResponseWriter,
  result: Result,
  form: OutputFormat,
  query: URLSearchParams,
  now: number,
): Awaitable<Outcome> {
  // The deadline has passed meanwhile, and the request is answered.
  if (reply.status !== 0) return 'done'
  const sending = reply.sendEncoded(encodeResult(result, form, query, now))
  return sending ? sending.then(() => 'done') : 'done'
}
