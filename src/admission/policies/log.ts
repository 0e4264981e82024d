// What policies do to requests, in the log of the server.

import type { StatusError } from '../../meta/errors/status.js'
import { type AdmittedRequest, loggedReason } from '../attributes.js'

/** `error`: what the request is refused with, which names the policy. */
export function logRefusal({ log }: AdmittedRequest, error: StatusError): StatusError {
  log.info('a policy has refused the request', { reason: loggedReason(error.message) })
  return error
}

/** An expression failed, and the failure policy of its policy is Ignore. */
export const logIgnored = ({ log }: AdmittedRequest, policy: string, why: string): void =>
  log.warn('a policy failed and is ignored', { policy, reason: loggedReason(why) })
