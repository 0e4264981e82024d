// How serving a request ends, and how the result of a verb is sent.

import type { Awaitable } from '../../base/awaitable.js'
import { represent } from '../../response/encode-result.js'
import type { Form } from '../../response/output-format.js'
import type { Result } from '../../verbs/result.js'
import type { Reply } from '../wire/reply.js'

/** `streaming`: the handler has returned but the response is still open, as that of a watch is. */
export type Outcome = 'done' | 'streaming'

export function sendResult(
  reply: Reply,
  result: Result,
  form: Form,
  query: URLSearchParams,
  now: number,
): Awaitable<Outcome> {
  // The deadline has passed meanwhile, and the request is answered.
  if (reply.status !== 0) return 'done'
  const sending = reply.represent(represent(result, form, query, now))
  return sending ? sending.then(() => 'done') : 'done'
}
